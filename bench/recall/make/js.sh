#!/usr/bin/env bash
# Makes the jest, vitest, tsc and eslint outputs.
#   js.sh jest-board | jest-library | vitest-courier | vitest-garden | junit-courier
#       | tsc-museum | tsc-airfield | eslint-museum | eslint-airfield   > OUTPUT
# MODULES names a node_modules folder with jest, vitest, typescript, eslint,
# @eslint/js and typescript-eslint. Sources are written by js_gen.mjs.
. "$(dirname "$0")/folder.sh"
name=$1
project=${name#*-}
generate node js_gen.mjs "$project"
# a copy by hard links: tools print the real paths of modules
cp -al "$MODULES" node_modules 2>/dev/null || cp -r "$MODULES" node_modules
export NO_COLOR=1 FORCE_COLOR=0 CI=true
bin=node_modules/.bin
case $name in
  jest-board)       $bin/jest ;;
  jest-library)     $bin/jest --verbose --runInBand ;;
  vitest-courier)   $bin/vitest run ;;
  vitest-garden)    $bin/vitest run --reporter=verbose ;;
  junit-courier)    $bin/vitest run --reporter=junit ;;
  tsc-museum)       $bin/tsc --noEmit -p . ;;
  tsc-airfield)     $bin/tsc --noEmit --pretty -p . ;;
  eslint-museum)    $bin/eslint . ;;
  eslint-airfield)  $bin/eslint --format json src ;;
esac 2>&1
leave $?
