#!/usr/bin/env python3
"""Plays a week of use in an hour, with kills and upgrades, and checks at the end that nothing is lost.

  tools/endurance/endurance.py WEIR WEIR_SERVER RECORDINGS [--minutes 60 | --quick] [--older WEIR] [--seed N]

RECORDINGS is a folder with `halves.json` and `sessions`; only the development half is played. Everything is below one
temporary folder, which is removed at the end, and all traffic is on loopback. Exits with 1 if a check fails.
"""

import argparse
import os
import pathlib
import shutil
import sys
import tempfile
import time

import checks
import people
import recordings
import report
from week import Plan, Week


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("weir", type=pathlib.Path)
    parser.add_argument("server", type=pathlib.Path, metavar="weir_server")
    parser.add_argument("recordings", type=pathlib.Path)
    parser.add_argument("--minutes", type=float, default=60, help="time to play, without the checks at the end")
    parser.add_argument("--quick", action="store_true", help="all parts in about two minutes")
    parser.add_argument("--older", type=pathlib.Path, help="an older program, which takes turns with WEIR")
    parser.add_argument("--hook-seconds", type=int, help="the deadline of hooks, which slow debug programs need")
    parser.add_argument("--seed", type=int, default=20261119)
    parser.add_argument("--kills", type=int, default=400, help="the most of each kind")
    parser.add_argument("--searches", type=int, default=20, help="notes of each project that everybody searches for")
    parser.add_argument("--keep", action="store_true", help="keep the temporary folder")
    return parser.parse_args()


def plan(options: argparse.Namespace) -> Plan:
    projects = [f"p{number:02}" for number in range(1, 13)]
    variables = {"WEIR_HOOK_SECONDS": str(options.hook_seconds)} if options.hook_seconds else {}
    if options.quick:
        return Plan(3, 60, projects, most_hooks=40, every=5, floods=14, kill_pause=(6, 12), variables=variables)
    return Plan(7, options.minutes * 60, projects, most_hooks=2000, every=12, floods=9, kill_pause=(15, 45), variables=variables)


def copied(program: pathlib.Path, place: pathlib.Path) -> pathlib.Path:
    """Copies a program, so that a build does not change it meanwhile."""
    shutil.copy2(program, place)
    return place


def main() -> int:
    options = arguments()
    root = pathlib.Path(tempfile.mkdtemp(prefix="weir-endurance-")).resolve()
    print(f"seed {options.seed}, load {os.getloadavg()[0]:.1f}, in {root}", flush=True)
    try:
        return run(options, root)
    finally:
        people.end_all(root)
        if not options.keep:
            shutil.rmtree(root, ignore_errors=True)


def run(options: argparse.Namespace, root: pathlib.Path) -> int:
    programs = [copied(options.weir, root / "newer"), copied(options.older or options.weir, root / "older")]
    server = copied(options.server, root / "weir-server")
    found = recordings.development(options.recordings)
    week = Week(root, programs, server, plan(options), options.seed, options.kills)
    begun = time.monotonic()
    try:
        week.furnish()
        week.play(found)
        print(f"played for {time.monotonic() - begun:.0f} s, load {os.getloadavg()[0]:.1f}", flush=True)
        results = checks.all_of(week, options.searches)
    finally:
        week.over.set()
        week.server.stop()
    results.append(checks.processes(root))
    return report.show(week, results)


if __name__ == "__main__":
    sys.exit(main())
