#!/bin/bash
# What a Python project runs before a merge: formatting, two linters, tests, documentation build.
set -u
bad=()
step() { local name=$1; shift; echo; echo "--- $name: $*"; local t0=$SECONDS; "$@"; local rc=$?; [ $rc = 0 ] && echo "--- $name ok ($((SECONDS - t0))s)" || { echo "--- $name FAILED rc=$rc ($((SECONDS - t0))s)"; bad+=("$name($rc)"); }; }
echo "check of harbour on $(python --version), $(nproc) cores"
step format black --check --diff -q harbour
step names black --check tests harbour
step flake8 flake8 --max-line-length 79 --statistics --count harbour tests
step pylint pylint --score=y --disable=missing-docstring harbour tests
step tests python -m pytest -p no:cacheprovider -q --tb=short --cov=harbour
step bytecode python -m compileall -f harbour tests
step import python -c 'import harbour.berths as b; b.dues(b.Ship("Ida", 10, 2, "FR"), 1, {})'
echo
if [ ${#bad[@]} -gt 0 ]; then echo "NOT READY: ${#bad[@]} of 7 checks failed: ${bad[*]}"; exit 1; fi
echo "READY"
