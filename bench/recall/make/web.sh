#!/bin/bash
# Makes HTML and accessibility outputs with a local web server and headless Chromium.
# usage: web.sh NAME > output      (NODE_PATH-like folder with playwright-core in $MODULES for the snapshots)
here=$(cd "$(dirname "$0")" && pwd)
d=/srv/pages; rm -rf $d; mkdir -p $d
for page in docs error timetable status catalogue portal; do python3 "$here/web.py" $page > $d/$page.html; done
(cd $d && exec python3 -m http.server 8093 --bind 127.0.0.1 >/dev/null 2>&1) & server=$!
sleep 0.7
snap() { cp "$here/web.mjs" "$MODULES/"; (cd "$MODULES" && node web.mjs "$1" "http://localhost:8093/$2.html" 2>&1); rm "$MODULES/web.mjs"; }
u=$(mktemp -d)
case $1 in
  html-docs-heron) curl -s http://localhost:8093/docs.html ;;
  html-dom-catalogue) chromium --headless --no-sandbox --disable-gpu --disable-background-networking --disable-component-update --disable-sync --user-data-dir="$u" --dump-dom http://localhost:8093/catalogue.html 2>/dev/null ;;
  html-dom-timetable) chromium --headless --no-sandbox --disable-gpu --disable-background-networking --disable-component-update --disable-sync --user-data-dir="$u" --dump-dom http://localhost:8093/timetable.html 2>/dev/null ;;
  html-error-ferry) curl -s http://localhost:8093/error.html ;;
  html-portal) curl -s http://localhost:8093/portal.html ;;
  a11y-backoffice) snap aria status ;;
  a11y-portal) snap aria portal ;;
  a11y-axtree-catalogue) snap axtree catalogue ;;
esac
kill $server; rm -rf $d "$u"
