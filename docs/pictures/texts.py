#!/usr/bin/env python3
"""Draws two texts that a model gets in `weir demo`, each below what it would get without Weir.

  python3 docs/pictures/texts.py PATH-OF-WEIR

Writes beside this file:

  digest.svg   the beginning of a failing test run, and the beginning of its digest, with long lines cut
  guide.svg    a client's summary, and the guide that follows it
"""

import json
import re
import subprocess
import sys
import textwrap

import terminals

DIGEST = "What a model gets of a failing test run: the beginning of the output, and the beginning of its digest"
GUIDE = "What a model has after a compaction: the client's summary, and the guide"
HEADING, NAME = re.compile(r"== .*|[A-Z][\w ,()]*:"), "\x1b[1;36m{}: {:,} tokens"


def unmarked(text):
    """The lines of a text, without the two marks around it."""
    return [line for line in text.splitlines() if not line.startswith("<<<") and not line.endswith(">>>")]


def shown(lines):
    return [HEADING.sub("\x1b[1m\\g<0>\x1b[0m", line, count=1) if HEADING.match(line) else line for line in lines]


def beginning(text, most):
    """The first lines of a text, each as long as the picture is wide."""
    lines = unmarked(text)
    cut = [line if len(line) <= terminals.COLUMNS else f"{line[: terminals.COLUMNS - 1]}…" for line in lines[:most]]
    return [*shown(cut), f"\x1b[90m… {len(lines) - most} more lines"]


def whole(text):
    """All lines of a text, on as many rows as they need."""
    return shown([row for line in unmarked(text) for row in textwrap.wrap(line, terminals.COLUMNS) or [""]])


def draw(name, label, rows):
    lines = terminals.lines_of("\x1b[0m\n".join(rows))
    terminals.write(name, terminals.picture(label, len(lines), terminals.drawn(lines)))


def main():
    demo = subprocess.run([sys.argv[1], "demo", "--json"], check=True, capture_output=True).stdout
    run, _, compaction = json.loads(demo)["steps"]
    rows = [NAME.format("without Weir", run["without"]["tokens"]), *beginning(run["without"]["text"], 8), ""]
    rows += [NAME.format("with Weir", run["with"]["tokens"]), *beginning(run["with"]["text"], 20)]
    draw("digest.svg", DIGEST, rows)
    summary, both = compaction["without"], compaction["with"]
    rows = [NAME.format("the client's summary", summary["tokens"]), *whole(summary["text"]), ""]
    rows += [NAME.format("and Weir's guide", both["tokens"] - summary["tokens"])]
    draw("guide.svg", GUIDE, rows + whole(both["text"].removeprefix(summary["text"]).strip()))


main()
