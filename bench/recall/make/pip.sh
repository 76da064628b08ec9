#!/bin/bash
# pip.sh forecast|reports|all: verbose installs; the second one ends in a resolver conflict.
# Package hosts are replaced by packages.example (see clean in lib.sh).
. "$(dirname "$0")/lib.sh"
unset PIP_FIND_LINKS
PY=${PY:-python3}

forecast() {
  rm -rf /srv/forecast && mkdir -p /srv/forecast && cd /srv/forecast || exit 1
  "$PY" -m venv .venv
  cat > requirements.txt <<'R'
flask==2.2.5
sqlalchemy==1.4.49
alembic==1.11.1
celery==5.3.1
redis==4.6.0
requests==2.31.0
pydantic==1.10.12
pytest==7.4.0
boto3==1.28.20
marshmallow==3.20.1
typer==0.9.0
pyyaml==6.0.1
docopt==0.6.2
R
  keep pip-forecast .venv/bin/pip install -v --no-cache-dir -r requirements.txt
  clean pip-forecast
}

reports() {
  rm -rf /srv/reports && mkdir -p /srv/reports && cd /srv/reports || exit 1
  "$PY" -m venv .venv
  cat > requirements.txt <<'R'
fastapi==0.95.2
starlette>=0.36.3
pydantic>=1.10,<2
uvicorn[standard]==0.22.0
httpx==0.24.1
jinja2==3.1.2
sqlmodel==0.0.8
R
  keep pip-reports .venv/bin/pip install -vv --no-cache-dir -r requirements.txt
  clean pip-reports
}

case ${1:-all} in all) forecast; reports;; *) "$1";; esac
