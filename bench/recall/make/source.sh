#!/bin/bash
# Makes source files and minified bundles. usage: source.sh NAME > output      (esbuild in $MODULES/node_modules)
here=$(cd "$(dirname "$0")" && pwd)
d=/srv/bundle; rm -rf $d; mkdir -p $d; cd $d || exit 1
case $1 in
  source-python-stock) python3 "$here/source.py" python > stock.py; cat stock.py ;;
  source-rust-tram) python3 "$here/source.py" rust > message.rs; cat message.rs ;;
  source-typescript-clinic) python3 "$here/source.py" typescript > clinic.ts; cat clinic.ts ;;
  minified-shopkit) python3 "$here/source.py" widgets > shopkit.js; "$MODULES/node_modules/.bin/esbuild" shopkit.js --bundle --minify --format=iife --global-name=Shopkit --log-level=error ;;
  minified-gustboard) python3 "$here/source.py" dashboard > gustboard.ts; "$MODULES/node_modules/.bin/esbuild" gustboard.ts --bundle --minify --format=esm --target=es2019 --charset=utf8 --log-level=error ;;
esac
rm -rf $d
