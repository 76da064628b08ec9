#!/usr/bin/env python3
"""py.py DIR: a Python package with type errors, lint findings and failing tests."""
import os
import random
import sys

root = sys.argv[1]
rng = random.Random(8)
MODS = ["accounts", "balances", "currency", "journal", "limits", "periods", "postings", "rates", "statements", "transfers"]


def put(path, text):
    p = os.path.join(root, path)
    os.makedirs(os.path.dirname(p), exist_ok=True)
    open(p, "w").write(text)


put("pyproject.toml", "[tool.ruff.lint]\nselect = [\"E\", \"F\", \"B\", \"UP\"]\n\n[tool.pytest.ini_options]\npythonpath = [\".\"]\n\n[tool.mypy]\nstrict = true\n")
put("ledger/__init__.py", "")
for m in MODS:
    lines = ["import os", "from typing import Dict, List, Optional", "", ""]
    tests = [f"import pytest", "", f"from ledger import {m}", "", ""]
    for k in range(rng.randint(4, 8)):
        f = f"{rng.choice(['sum', 'find', 'close', 'shift', 'check'])}_{m}_{k}"
        lines += [f"def {f}(entries: List[int], limit: Optional[int] = None, seen={rng.choice(['None', '[]', 'None'])}) -> int:",
                  f"    \"\"\"Works on {m}.\"\"\""]
        if rng.random() < 0.3:
            lines.append("    unused = len(entries)")
        if rng.random() < 0.3:
            lines.append("    if limit == None:\n        limit = 100")
        if rng.random() < 0.2:
            lines.append("    total: str = sum(entries)")
        wrong = rng.random() < 0.1
        lines += [f"    return sum(entries[:limit]){' - 1' if wrong else ''}", "", ""]
        tests += [f"@pytest.mark.parametrize('n', range({rng.randint(3, 9)}))", f"def test_{f}(n):",
                  f"    assert {m}.{f}(list(range(n + 1))) == n * (n + 1) // 2", "", ""]
        if rng.random() < 0.08:
            tests += ["@pytest.mark.skip(reason='needs the archive of 2019')", f"def test_{f}_archive():", "    pass", "", ""]
    put(f"ledger/{m}.py", "\n".join(lines).rstrip() + "\n")
    put(f"tests/test_{m}.py", "\n".join(tests).rstrip() + "\n")
put("tests/test_database.py", '''import json
import pytest


@pytest.fixture
def database():
    raise ConnectionError("database ledger_test refused the connection on port 5433")


def test_rows(database):
    assert database


def test_settings():
    settings = json.loads('{"currency": "EUR", "decimals": 2, "rounding": "half_even"}')
    assert settings == {"currency": "EUR", "decimals": 3, "rounding": "half_even"}
''')
