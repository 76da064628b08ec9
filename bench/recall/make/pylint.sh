#!/usr/bin/env bash
# Makes the ruff and mypy outputs.
#   pylint.sh ruff-stock | ruff-clinic | mypy-stock | mypy-clinic   > OUTPUT
# BIN names the folder with ruff and mypy. The package is written by pylint_gen.py.
. "$(dirname "$0")/folder.sh"
name=$1
project=${name#*-}
generate python3 pylint_gen.py "$project"
bin=${BIN:+$BIN/}
export NO_COLOR=1 TERM=dumb
case $name in
  ruff-stock)  "${bin}ruff" check --no-cache --select E,F,W,B,UP,SIM,C4,S,N . ;;
  ruff-clinic) "${bin}ruff" check --no-cache --output-format concise --select ALL --ignore D,COM,Q,ANN . ;;
  mypy-stock)  "${bin}mypy" --cache-dir=/dev/null --strict stock ;;
  mypy-clinic) "${bin}mypy" --cache-dir=/dev/null --pretty --show-error-context --check-untyped-defs clinic ;;
esac 2>&1
leave $?
