#!/usr/bin/env bash
# runs.sh NAME > OUTPUT: test runs of two small Python projects with other flags than those of pytest.sh.
# Needs pytest, pytest-xdist, pytest-cov, pytest-timeout and pytest-asyncio (PY=…/bin/python).
. "$(dirname "$0")/folder.sh"
py=${PY:-python3}
name=$1
dir=/srv/r1-$name
project=${name%%-*}
rm -rf "$dir" && python3 "$here/runs/pyproj.py" "$project" "$dir" && cd "$dir" || exit 2
export PYTHONDONTWRITEBYTECODE=1 PYTHONHASHSEED=0 COLUMNS=100 PYTHONPATH=.
common="-p no:cacheprovider"
case $name in
  harbour)       "$py" -m pytest $common -n 2 -v --cov=harbour --cov-report=term-missing --cov-fail-under=95 --durations=5 ;;
  harbour-green) "$py" -m pytest $common -v --durations=6 -W default -k "height or long_berth or grow or waiting or radar" ;;
  mailer)        "$py" -m pytest $common -vv -l --doctest-modules --ignore=tests/test_smtp.py ;;
  mailer-short)  "$py" -m pytest $common --tb=short -ra --continue-on-collection-errors -o log_cli=true --doctest-modules mailer tests ;;
  mailer-junit)  "$py" -m pytest $common -q --doctest-modules --continue-on-collection-errors --junitxml=report.xml >/dev/null; rc=$?
                 cat report.xml; (exit $rc) ;;
esac 2>&1 | sed -e 's#/[^ "]*/lib/python3\.[0-9]*/#/usr/lib/python3/#g' -e 's#/[^ "]*/bin/python3*#/usr/bin/python3#g' -e 's# hostname="[^"]*"# hostname="build-7"#' -e "s#$dir#/home/dev/$project#g"
leave "${PIPESTATUS[0]}"
