#!/usr/bin/env bash
# Makes the ruff and mypy outputs.
#   pylint.sh ruff-stock | ruff-clinic | mypy-stock | mypy-clinic   > OUTPUT
# BIN names the folder with ruff and mypy. The package is written by pylint_gen.py.
set -u
here=$(cd "$(dirname "$0")" && pwd)
name=$1
project=${name#*-}
dir=/srv/$project
# never touch a folder that was there before
if [ -e "$dir" ]; then echo "$dir exists already" >&2; exit 2; fi
mkdir -p "$dir" || exit 2
python3 "$here/pylint_gen.py" "$project" "$dir" || exit 2
cd "$dir" || exit 2
bin=${BIN:+$BIN/}
export NO_COLOR=1 TERM=dumb
case $name in
  ruff-stock)  "${bin}ruff" check --no-cache --select E,F,W,B,UP,SIM,C4,S,N . ;;
  ruff-clinic) "${bin}ruff" check --no-cache --output-format concise --select ALL --ignore D,COM,Q,ANN . ;;
  mypy-stock)  "${bin}mypy" --cache-dir=/dev/null --strict stock ;;
  mypy-clinic) "${bin}mypy" --cache-dir=/dev/null --pretty --show-error-context --check-untyped-defs clinic ;;
esac 2>&1
rc=$?
cd / && rm -rf "$dir"
exit "$rc"
