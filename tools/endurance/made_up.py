"""Makes exports of a project that never was: outputs, pages, notes and events of sessions, in made-up words.

The same numbers and seed make the same file. Words are as frequent as words are: few of them make up half of a text.
"""

import itertools
import json
import pathlib
import random
import time

LETTERS = "0123456789abcdefghjkmnpqrstvwxyz"
SYLLABLES = ["da", "co", "di", "fe", "gu", "ka", "lo", "mi", "ne", "pu", "ra", "so", "ti", "ve", "wu", "zar", "mon", "tel"]
WORDS = ["".join(parts) for parts in itertools.product(SYLLABLES, repeat=3)]
DAY = 24 * 3600 * 1000
DAYS = 25


def export(file: pathlib.Path, project: pathlib.Path, first: int, number: int, seed: int) -> None:
    """Writes an export with so many entries; every fifth of them comes with an event of its session."""
    chance = random.Random(f"{seed}-{first}")
    weights = list(itertools.accumulate(1 / rank for rank in range(1, len(WORDS) + 1)))
    end = int(time.time() * 1000) - 60_000
    with file.open("w") as out:
        head = {"type": "head", "format": "weir-export", "version": 1, "weir": "made up", "project": str(project)}
        out.write(json.dumps({**head, "made_at": "2026-01-31T12:00:00Z"}) + "\n")
        for at in range(number):
            said = chance.choices(WORDS, cum_weights=weights, k=60)
            when = end - DAYS * DAY + DAYS * DAY * at // number
            common = {"at": when, "client": "claude-code", "session": f"s{first + at:08}"[:-3], "work": "main"}
            if at % 5 == 0:
                out.write(json.dumps({**common, **event(first + at, said)}) + "\n")
            out.write(json.dumps({**common, **entry(first + at, said, chance)}) + "\n")


def event(number: int, said: list[str]) -> dict:
    kind, priority = [("prompt", "P1"), ("file", "P3"), ("decision", "P1"), ("error", "P2"), ("git", "P2")][number // 5 % 5]
    text = f"src/{said[0]}/{said[1]}.rs" if kind == "file" else " ".join(said[:15])
    return {"type": "event", "number": 2 * number + 1, "kind": kind, "priority": priority, "text": text, "data": None}


def entry(number: int, said: list[str], chance: random.Random) -> dict:
    kind, origin = ("note", "model") if number % 50 == 0 else ("page", "web") if number % 5 == 1 else ("run", "tool")
    lines = [" ".join(said[at : at + 10]) for at in range(0, len(said), 10)]
    text = f"entry{number:08} {chance.randrange(10**9)}\n" + "\n".join(lines) + "\n"
    source = {"note": None, "page": f"https://example.org/{said[0]}/{number}", "run": f"make {said[0]}"}[kind]
    made = {
        "type": "entry", "number": 2 * number + 2, "kind": kind, "reference": reference(number), "origin": origin,
        "level": "project", "title": " ".join(said[:6]), "source": source, "redactions": 0, "pinned": False,
        "expires_at": None, "text": text,
    }
    if kind == "note":
        made["note"] = {"kind": "finding", "topic": None, "superseded_by": None, "commit": None, "branch": None,
                        "confirmed_at": None, "files": []}
    return made


def reference(number: int) -> str:
    """Returns a reference that belongs to a number alone, and looks like any other."""
    mixed = number * 0x9E3779B97F4A7C15 % (1 << 50)
    return "".join(LETTERS[mixed >> shift & 31] for shift in range(0, 50, 5))
