#!/usr/bin/env bash
# Makes the pytest outputs and the JUnit XML that pytest writes.
#   pytest.sh orders|billing|ingest|telemetry|scheduler|scheduler-green|junit-billing   > OUTPUT
# Needs a Python environment with pytest 9 (PY=…/bin/python). The project is
# copied to /srv so that no local path is printed.
. "$(dirname "$0")/folder.sh"
py=${PY:-python3}
name=$1
project=${name#junit-}
project=${project%-green}
copied "$project" pytest
export PYTHONDONTWRITEBYTECODE=1 PYTHONHASHSEED=0 COLUMNS=100
case $name in
  orders)        "$py" -m pytest -q -p no:cacheprovider ;;
  billing)       "$py" -m pytest -v -ra --durations=8 -p no:cacheprovider ;;
  ingest)        "$py" -m pytest -rA -p no:cacheprovider ;;
  telemetry)     "$py" -m pytest -q --tb=short -rfE -p no:cacheprovider ;;
  scheduler)     "$py" -m pytest -vv --showlocals --tb=long -p no:cacheprovider ;;
  scheduler-green) "$py" -m pytest -v --durations=5 --durations-min=0.001 -p no:cacheprovider -k "next_is_later or count_after or refused or remote" ;;
  junit-billing) "$py" -m pytest -q -p no:cacheprovider --junitxml=report.xml >/dev/null; rc=$?
                 cat report.xml; (exit $rc) ;;
esac 2>&1 | sed -e 's#/[^ "]*/lib/python3\.[0-9]*/#/usr/lib/python3/#g' -e 's#/[^ "]*/bin/python3*#/usr/bin/python3#g' -e 's# hostname="[^"]*"# hostname="build-7"#'
leave "${PIPESTATUS[0]}"
