"""Prints what the checks found, and how long hooks took."""

import collections

from checks import Result, spread

MOST_FAULTS = 12


def show(week, results: list[Result]) -> int:
    """Prints the results. Returns the exit code."""
    print()
    for one in results:
        print(f"{'ok  ' if one.ok else 'FAIL'}  {one.name}: {one.said}")
        for fault in one.faults[:MOST_FAULTS]:
            print(f"        {fault}")
        if len(one.faults) > MOST_FAULTS:
            print(f"        and {len(one.faults) - MOST_FAULTS} more")
    print_times(week)
    counts = collections.Counter()
    for (what, _, _), number in week.ledger.counts.items():
        counts[what] += number
    print("counted: " + ", ".join(f"{number} {what}" for what, number in counts.most_common()))
    print(f"killed or replaced: {week.kills.made}; {week.played} sessions")
    return 0 if all(one.ok for one in results) else 1


def print_times(week) -> None:
    """Prints p50 and p95 of each event, in the first and the last tenth."""
    print("\nhook: p50 and p95 in ms of the first tenth, and of the last")
    by_event = collections.defaultdict(list)
    for one in sorted(week.ledger.times, key=lambda one: one.at):
        by_event[one.event].append(one.ms)
    for event, taken in sorted(by_event.items()):
        tenth = max(1, len(taken) // 10)
        print(f"  {event}: {spread(taken[:tenth])} | {spread(taken[-tenth:])}")
