#!/bin/bash
# Makes structured data and logs with real tools. usage: structured.sh NAME > output
#   $VENV: a Python environment with fastapi, python-multipart and pylint; $ESBUILD: the esbuild program.
#   terraform, npm, sqlite3, java, go, hexdump and od come from PATH. Names of package registries become packages.example.
here=$(cd "$(dirname "$0")" && pwd)/structured
d=/srv/structured-recall; rm -rf $d; mkdir -p $d; cd $d || exit 1
desk() { cp -r "$here/desk" .; cd desk || exit 1; terraform init >/dev/null 2>&1; terraform plan -out p1 >/dev/null 2>&1; }
desk2() { # The next release: one region fewer, one disk more.
  desk; terraform apply p1 >/dev/null 2>&1
  sed -i 's/default = "v14"/default = "v15"/; /east  = /d; s/size = 3/size = 4/' main.tf
  terraform plan -out p2 >/dev/null 2>&1; }
blobs() { mkdir -p bin out; python3 "$here/blobs.py"; }
case $1 in
  json-openapi-clinic) "$VENV/bin/python" "$here/clinic.py" ;;
  json-npm-ls-desk)
    mkdir -p desk/packages/{calendar,forms}; cd desk || exit 1
    echo '{ "name": "desk-board", "version": "2.4.0", "private": true, "workspaces": ["packages/*"], "dependencies": { "vue": "^3.4.0", "pinia": "^2.1.0", "axios": "^1.6.0" }, "devDependencies": { "vite": "^5.0.0", "typescript": "~5.4.0", "eslint": "^8.57.0", "esbuild": "^0.21.0", "prettier": "^3.0.0" } }' > package.json
    echo '{"name":"@desk/calendar","version":"0.9.1","dependencies":{"dayjs":"^1.11.0","@desk/forms":"^1.2.0"}}' > packages/calendar/package.json
    echo '{"name":"@desk/forms","version":"1.2.3","dependencies":{"zod":"^3.22.0"}}' > packages/forms/package.json
    npm install --no-audit --no-fund --ignore-scripts >/dev/null 2>&1
    npm ls --all --json 2>/dev/null | sed 's#https://[^/"]*/#https://packages.example/#g' ;;
  ndjson-terraform-desk) desk; terraform apply -json p1 2>&1 ;;
  json-terraform-plan) desk2; terraform show -json p2 | jq . ;;
  log-terraform-desk) desk2; TF_LOG=DEBUG terraform apply -no-color p2 2>&1 | sed "s#$HOME#/home/dev#g; s# on [0-9.]*:53# on 192.0.2.53:53#" ;;
  json-pylint-clinic) cp "$here"/{clinic,css,blobs}.py .; "$VENV/bin/pylint" -f json2 ./*.py 2>&1 ;;
  json-array-loans) python3 "$here/loans.py" | sqlite3 lib.db; sqlite3 -json lib.db 'select * from loans' ;;
  hexdump-chime) blobs; hexdump -C bin/chime.wav ;;
  hexdump-tar-kiosk) blobs; od -A d -t x1z bin/etc.tar ;;
  base64-mail-depot) blobs; cat out/base64-mail-depot.txt ;;
  minified-css-tide) python3 "$here/css.py" > tide.css; "$ESBUILD" tide.css --minify ;;
  log-jul-depot) cp "$here/depot/Depot.java" .; javac Depot.java; java -Duser.timezone=UTC -Djava.util.logging.SimpleFormatter.format='%1$tb %1$td, %1$tY %1$tl:%1$tM:%1$tS %1$Tp %2$s%n%4$s: %5$s%6$s%n' Depot 2>&1 ;;
  log-logfmt-mailroom) cp "$here/mailroom.go" main.go; go run main.go ;;
esac
cd /; rm -rf $d
