#!/usr/bin/env python3
"""Nightly ledger close: imports files into SQLite, checks sums, prints JSON, a table and a traceback (fixed seed)."""
import json
import random
import sqlite3
import time

rng = random.Random(404)
clock = [1751328000]


def say(level, part, text):
    clock[0] += rng.randint(0, 1)
    print(time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(clock[0])), f"{level:<5}", f"{part:<10}", text, flush=True)


db = sqlite3.connect(":memory:")
db.execute("create table entries (id integer primary key, file text, account text, cents integer, currency text)")
ACCOUNTS = [f"{a}-{n:03d}" for a in ("cash", "fees", "loans", "tax") for n in range(1, 16)]
bad = []
for f in range(220):
    name = f"bank-{f % 7}-{f:03d}.csv"
    rows = rng.randint(20, 90)
    say("INFO", "import", f"{name} {rows} rows")
    for r in range(rows):
        db.execute("insert into entries (file, account, cents, currency) values (?, ?, ?, ?)", (name, rng.choice(ACCOUNTS), rng.randint(-90000, 90000), rng.choice(["EUR", "EUR", "EUR", "USD"])))
    if f % 31 == 30:
        bad.append(name)
        say("WARN", "import", f"{name} has {rng.randint(2, 9)} rows without a booking date, rows kept")
    if f == 143:
        say("ERROR", "import", f"{name} ends in the middle of a row (byte 40960), file set aside")
print(json.dumps({"stage": "import", "files": 220, "warnings": len(bad), "warned": bad, "set_aside": ["bank-3-143.csv"],
                  "rows": db.execute("select count(*) from entries").fetchone()[0]}, indent=1))
print(f"\n{'account':<12}{'entries':>9}{'balance':>16}{'usd_share':>11}")
for acc, n, cents, usd in db.execute("select account, count(*), sum(cents), avg(currency = 'USD') from entries group by account order by account"):
    print(f"{acc:<12}{n:>9}{cents / 100:>16.2f}{usd:>11.2%}")
print()
for n in range(4200):
    say("INFO" if n % 60 != 59 else "WARN", "match", f"pair {n:04d} {'matched' if n % 60 != 59 else 'unmatched, difference ' + str(rng.randint(1, 400)) + ' cents'}")


def rates(day):
    return {"2025-06-29": 1.171}[day]


def close(day):
    try:
        return rates(day)
    except KeyError as err:
        raise RuntimeError(f"period 2025-06 cannot be closed: no USD rate for {day}") from err


say("INFO", "close", "closing period 2025-06")
db.execute("create table closed (period text primary key)")
close("2025-06-30")
