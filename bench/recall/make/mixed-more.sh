#!/usr/bin/env bash
# mixed-more.sh go|py|c|nightly|gha|junit > OUTPUT: scripts of other ecosystems than those of mixed.sh, and the
# JUnit report of node:test.
# py needs black, flake8, pylint and pytest beside PY=…/bin/python.
. "$(dirname "$0")/folder.sh"
export LC_ALL=C.UTF-8 TZ=UTC NO_COLOR=1 TERM=dumb PYTHONDONTWRITEBYTECODE=1
clean() { sed -e 's#/[^ "]*/lib/python3\.[0-9]*/#/usr/lib/python3/#g' -e "s#$dir#/home/dev/project#g"; }
dir=/srv/r1-mixed-$1
rm -rf "$dir"
case $1 in
  go) python3 "$here/runs/goproj.py" "$dir"; cp "$here/runs/check-go.sh" "$dir"; cd "$dir" && GOCACHE=/srv/r1-gocache GOFLAGS=-mod=mod bash check-go.sh 2>&1 | clean ;;
  py) python3 "$here/runs/pyproj.py" harbour "$dir"; cp "$here/runs/check-py.sh" "$dir"; cd "$dir" && PATH=$(dirname "${PY:-/usr/bin/python3}"):$PATH PYTHONPATH=. bash check-py.sh 2>&1 | clean ;;
  c) python3 "$here/runs/cproj.py" "$dir"; cd "$dir" && bash all.sh 2>&1 | clean ;;
  nightly) python3 "$here/runs/nightly_shop.py" "$dir"; cp "$here/runs/nightly-shop.sh" "$dir"; cd "$dir" && bash nightly-shop.sh 2>&1 | clean ;;
  gha) node "$here/runs/gha-node.mjs" "$dir"; cd "$dir" && bash run.sh 2>&1 | clean | python3 -c 'import sys,datetime
at = datetime.datetime(2026, 11, 12, 8, 14, 3)
for n, line in enumerate(sys.stdin):
    at += datetime.timedelta(milliseconds=7 + n * 37 % 900)
    print(at.strftime("%Y-%m-%dT%H:%M:%S.%f") + "0Z " + line, end="")'; ;;
  junit) node "$here/runs/gha-node.mjs" "$dir"; cd "$dir" && node --test --test-reporter=junit test/ 2>&1 | clean | sed 's# hostname="[^"]*"# hostname="build-7"#' ;;
esac
leave "${PIPESTATUS[0]}"
