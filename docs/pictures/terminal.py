#!/usr/bin/env python3
"""Records a failing test run with Weir: the example of the README, and a picture of a digest.

  python3 docs/pictures/terminal.py PATH-OF-WEIR

Needs git, Python with venv, `unshare`, and the network for pip. Copies a small project whose tests fail into an empty
home, installs pytest there, and runs the commands below on a terminal of 100 columns. Writes beside this file:

  terminal.svg   what the terminal showed; of an output longer than 8 lines, the end, below a line that says so
  digest.txt     what a model gets of the same command, without the two marks around it

The reference and the times are those of the recording, so they differ each time.
"""

import sys

import terminals

MAX_LINES = 8
TEST = "python -m pytest -q -k renewal"
PERSON, MODEL = f"weir run '{TEST}'", f"weir run --for-model '{TEST}'"
# What is typed, and what a reader is told about it.
TYPED = [
    (PERSON, "what you see"),
    (MODEL, "what a model gets"),
    ("weir get --lines 20-27", "nothing is lost"),
]
LABEL = "A terminal: a failing test run, the digest of it, and lines of the full output"


def run(place, command):
    """Returns what a command shows on a terminal."""
    terminal = terminals.Terminal(place, "sh", "-c", f"sleep 0.1; {command}")
    code, shown = terminal.end(), terminal.text().replace("\r\n", "\n").rstrip("\n")
    if code != (1 if TEST in command else 0):
        sys.exit(f"error: {command} exited with {code}:\n{shown}")
    return shown


def main():
    lines = []
    with terminals.home(sys.argv[1]) as place:
        terminals.add_project(place)
        for command, remark in TYPED:
            shown = run(place, command)
            if command == MODEL:
                marks = [line for line in shown.splitlines() if line.startswith("<<<") or line.endswith(">>>")]
                shown = "\n".join(line for line in shown.splitlines() if line not in marks)
                terminals.write("digest.txt", f"{shown}\n")
            part = shown.splitlines()
            lines += terminals.lines_of(f"\x1b[32m$ \x1b[39;1m{command}\x1b[0;90m   # {remark}")
            if len(part) > MAX_LINES:
                lines += terminals.lines_of(f"\x1b[90m… {len(part) - MAX_LINES} lines above")
            lines += [*terminals.lines_of("\n".join(part[-MAX_LINES:])), []]
    lines.pop()
    terminals.write("terminal.svg", terminals.picture(LABEL, len(lines), terminals.drawn(lines)))


main()
