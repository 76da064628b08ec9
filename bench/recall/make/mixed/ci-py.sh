#!/bin/bash
echo "[stage] install"
python3 -m venv .venv && .venv/bin/pip install -r requirements-dev.txt
echo "[stage] ruff"
.venv/bin/ruff check . ; r=$?
echo "[stage] mypy"
.venv/bin/mypy ledger ; m=$?
echo "[stage] pytest"
.venv/bin/pytest -v --durations=5 --cov=ledger --cov-report=term-missing ; p=$?
echo "[stage] done ruff=$r mypy=$m pytest=$p"
exit $((r || m || p))
