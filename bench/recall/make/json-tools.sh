#!/bin/bash
# Makes JSON that real tools print. usage: json-tools.sh NAME > output
#   $MODULES: a folder with eslint in node_modules; $RUFF: the ruff program. cargo and npm come from PATH.
# Names of package registries are replaced by packages.example.
here=$(cd "$(dirname "$0")" && pwd)
go() { d=$1; rm -rf "$d"; mkdir -p "$d"; python3 "$here/json-tools.py" "$2" "$d"; cd "$d" || exit 1; }
done_() { cd /; rm -rf "$d"; }
case $1 in
  json-cargo-metadata) go /home/dev/atlas-ws workspace; cargo generate-lockfile --offline 2>/dev/null; cargo metadata --format-version 1 --offline 2>&1; done_ ;;
  ndjson-cargo-build) go /srv/meter warnings; nice -n 10 cargo build --offline --message-format=json 2>&1; done_ ;;
  json-array-ruff) go /srv/forecast-lint ruff; "$RUFF" check --no-cache --output-format json . 2>&1; done_ ;;
  json-array-eslint) go /srv/storefront-lint eslint; "$MODULES/node_modules/.bin/eslint" -f json src 2>&1; done_ ;;
  json-openapi-ledger) python3 "$here/json-tools.py" openapi . ;;
  json-npm-ls)
    d=/srv/portal-deps; rm -rf $d; mkdir -p $d; cd $d || exit 1
    echo '{ "name": "portal", "version": "7.1.0", "private": true, "dependencies": { "express": "4.19.2", "lodash": "4.17.21", "left-pad": "^1.3.0" }, "devDependencies": { "eslint": "8.57.0" } }' > package.json
    npm install --no-audit --no-fund --ignore-scripts >/dev/null 2>&1
    # What somebody did by hand since: a version that does not fit, a package that nobody asked for, one that is missing.
    npm pkg set dependencies.lodash=^5.0.0 dependencies.zod=^3.23.0 >/dev/null 2>&1; npm pkg delete dependencies.left-pad >/dev/null 2>&1
    npm_config_logs_max=0 npm ls --all --json 2>&1 | sed 's#https://[^/"]*/#https://packages.example/#g; /^npm warn Unknown user config/d'; done_ ;;
esac
if [ "$1" = ndjson-go-test ]; then # go test -json, with the sources of go-events.py
  d=/srv/tariff; rm -rf $d; mkdir -p $d; python3 "$here/go-events.py" $d; cd $d || exit 1
  GOFLAGS=-mod=mod GOCACHE=$d/.cache nice -n 10 go test -json ./... 2>&1; cd /; rm -rf $d
fi
