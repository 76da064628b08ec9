#!/usr/bin/env python3
"""Fills one store up to a million entries, and times every command on it.

  tools/endurance/growth.py WEIR [--entries 1000000] [--step 100000] [--minutes 60] [--seed N]

Entries arrive by `weir import` of made-up exports, `--step` at a time, until there are enough or the time is over. After
the first step and at the end, each command is timed. The table has a budget where the documents say one. Everything is
below one temporary folder, which is removed at the end.
"""

import argparse
import os
import pathlib
import re
import shutil
import sys
import tempfile
import time

import commands
import made_up
import people
from people import Person


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("weir", type=pathlib.Path)
    parser.add_argument("--entries", type=int, default=1_000_000)
    parser.add_argument("--step", type=int, default=100_000)
    parser.add_argument("--minutes", type=float, default=60, help="for filling; timing follows")
    parser.add_argument("--rounds", type=int, default=5, help="how often each command is timed")
    parser.add_argument("--limit", type=float, default=120, help="seconds after which a command is given up")
    parser.add_argument("--seed", type=int, default=20261119)
    parser.add_argument("--keep", action="store_true", help="keep the temporary folder")
    return parser.parse_args()


def main() -> int:
    options = arguments()
    root = pathlib.Path(tempfile.mkdtemp(prefix="weir-growth-")).resolve()
    print(f"seed {options.seed}, load {os.getloadavg()[0]:.1f}", flush=True)
    try:
        return grow(options, root)
    finally:
        people.end_all(root)
        if not options.keep:
            shutil.rmtree(root, ignore_errors=True)


def grow(options: argparse.Namespace, root: pathlib.Path) -> int:
    shutil.copy2(options.weir, root / "weir")
    person = Person(root, "ana", root / "weir")
    person.clone("p01")
    person.configure("[retention]\nquota_mb = 20000\n")
    until = time.monotonic() + options.minutes * 60
    entries, tables = 0, []
    while entries < options.entries and time.monotonic() < until:
        step = min(options.step, options.entries - entries)
        fill(person, root / "export.jsonl", entries, step, options.seed)
        entries += step
        catch_up(person, until)
        if len(tables) == 0:
            tables.append((entries, commands.timed(person, options)))
    if tables[0][0] != entries:
        tables.append((entries, commands.timed(person, options)))
    commands.show(tables)
    missed = commands.missed(tables[-1][1])
    print("all within their budget" if not missed else f"over budget: {', '.join(missed)}")
    return 1 if missed else 0


def fill(person: Person, file: pathlib.Path, first: int, number: int, seed: int) -> None:
    begun = time.monotonic()
    folder = person.project("p01")
    made_up.export(file, folder, first, number, seed)
    made = time.monotonic()
    ended = person.run(["import", str(file)], folder, limit=3600)
    file.unlink()
    if ended.code != 0:
        raise RuntimeError(f"weir import: {ended.said[:2000]}")
    mib = sum(path.stat().st_size for path in person.data.rglob("*") if path.is_file()) >> 20
    print(f"{first + number} entries: made in {made - begun:.0f} s, imported in {ended.ms / 1000:.0f} s, {mib} MiB; "
          f"load {os.getloadavg()[0]:.1f}", flush=True)


def catch_up(person: Person, until: float) -> None:
    """Searches until the index has all that arrived; each search indexes for ten seconds at most."""
    searches, begun = 0, time.monotonic()
    while time.monotonic() < until + 600:
        ended = person.run(["search", "zebra", "--json"], person.project("p01"), limit=300)
        searches += 1
        if not re.search(r'"behind":\s*true', ended.text):
            break
    print(f"  indexed by {searches} searches in {time.monotonic() - begun:.0f} s", flush=True)


if __name__ == "__main__":
    sys.exit(main())
