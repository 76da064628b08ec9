#!/bin/bash
# Puts the data that the servers are asked about below /srv/flood. usage: data.sh FOLDER-WITH-CLONES
# The clones are click and fastify with their history; npm, pip and git-filter-repo must be there.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
clones=$(cd "$1" && pwd)
mkdir -p /srv/flood && cd /srv/flood

# Nobody who wrote to a repository is named: each name and address becomes a number.
for name in click fastify; do
  [ -e "$name" ] && continue
  git clone -q --bare "$clones/$name" "$name.git"
  git -C "$name.git" filter-repo --force --quiet \
    --name-callback 'import hashlib; return b"dev-" + hashlib.sha256(name.lower()).hexdigest()[:5].encode()' \
    --email-callback 'import hashlib; return b"dev-" + hashlib.sha256(email.lower()).hexdigest()[:5].encode() + b"@example.org"' \
    --message-callback 'import re
message = re.sub(rb"(?im)^(co-authored-by|signed-off-by|reported-by|suggested-by|reviewed-by):.*\n?", b"", message)
message = re.sub(rb"(from|branch .) ?[\w.-]+/", rb"\1 fork/", message)
message = re.sub(rb"[\w.+-]+@[\w-]+\.[\w.-]+", b"dev@example.org", message)
return re.sub(rb"(^|[\s(])@[\w-]+", rb"\1@dev", message)'
  git clone -q "$name.git" "$name"
  rm -rf "$name.git"
done

if [ ! -e app ]; then
  mkdir app && cd app
  npm init -y >/dev/null
  npm install --silent express@5 date-fns@4 fastify@5 prettier@3 swagger-ui-dist@5 @octokit/openapi@23
  cd ..
fi
[ -e packages.db ] || python3 "$here/packages.py" packages.db
