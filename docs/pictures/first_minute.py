#!/usr/bin/env python3
"""Records the first minute of a new user, as a picture that moves.

  python3 docs/pictures/first_minute.py PATH-OF-WEIR PATH-OF-CLAUDE

Needs git, Python with venv, `unshare`, and the network for pip. Types the commands below into a shell on a terminal of
100 columns, in an empty home with a small project whose tests fail. Writes first-minute.svg beside this file, which
shows again and again what the terminal showed, and only the end of it to a reader who wants less motion. The pauses
between keys and those for reading are set here; everything else takes as long as it took.
"""

import pathlib
import random
import re
import sys

import terminals

ROWS = 30
TEST = "python -m pytest -q -k renewal"
PROMPT = "\n$ "
# What is typed, with what the answer ends, and for how many seconds a person reads it.
STEPS = [
    ("weir demo", PROMPT, 7),
    (f"weir run '{TEST}'", PROMPT, 3),
    (f"weir run --for-model '{TEST}'", PROMPT, 7),
    ("weir get --lines 20-27", PROMPT, 4),
    ("weir setup claude", "[y/N, d shows the diff] ", 6),
    ("y", PROMPT, 3),
    ("weir doctor", PROMPT, 6),
]
# A blank line, a green prompt, and bold for what is typed.
SHELL = {"PS1": r"\n\[\e[32m\]$ \[\e[0;1m\]", "PS0": r"\e[0m"}
LABEL = "A terminal: the first minute with Weir, from its demo to a client that is set up"
MAX_STEP_SECONDS = 60
SECONDS_PER_KEY = (0.04, 0.13)
# What follows so soon is drawn together.
FRAME_SECONDS = 0.03
STYLES = """.pen, .page, .clock {{ animation: {seconds:.2f}s step-end infinite }}
.clock {{ animation-timing-function: linear; animation-name: clock; transform-origin: 0 0 }}
.pen {{ animation-name: pen; transform: translate({pen}) }}
.page {{ animation-name: page; transform: translate({page}) }}
@media (prefers-reduced-motion) {{ .pen, .page, .clock {{ animation: none }} }}
@keyframes clock {{ from {{ transform: scaleX(0) }} }}
@keyframes pen {{ {pens} }}
@keyframes page {{ {pages} }}
"""


def wait(terminal, after, end):
    """Waits until what the terminal has shown since ends in a text."""
    deadline = terminal.seconds() + MAX_STEP_SECONDS
    while not plain(terminal.text()[after:]).endswith(end):
        if terminal.seconds() > deadline or not terminal.read(0.01):
            sys.exit(f"error: the terminal does not end in {end!r}, but shows:\n{terminal.text()[after:]}")


def plain(text):
    return re.sub(r"\x1b\[[\d;]*m|\r", "", text)


def pause(terminal, seconds):
    deadline = terminal.seconds() + seconds
    while (left := deadline - terminal.seconds()) > 0:
        terminal.read(left)


def recorded(place):
    """Returns what was shown, as seconds and text, and how long it took."""
    keys = random.Random(1)
    terminal = terminals.Terminal(place, "bash", "--norc", "--noprofile", "-i", rows=ROWS, environment=SHELL)
    wait(terminal, 0, PROMPT)
    begun = terminal.seconds()
    pause(terminal, 1)
    for typed, end, seconds in STEPS:
        for key in f"{typed}\r":
            pause(terminal, keys.uniform(*SECONDS_PER_KEY))
            after = len(terminal.text())
            terminal.write(key)
        wait(terminal, after, end)
        pause(terminal, seconds)
    ended = terminal.seconds()
    terminal.kill()
    return [(max(0, at - begun), text) for at, text in terminal.shown], ended - begun


def keyframes(places):
    """CSS for what is at each place from some part of the time on."""
    frames, last = [], None
    for part, place in places:
        if place != last:
            frames.append(f"{part:.2%} {{ transform: translate({place}) }}")
        last = place
    return "\n".join(frames)


def animated(shown, seconds):
    """Draws each line once. What is not written yet is covered from the pen on, and the page moves up behind it."""
    screen, pens, pages, seen = terminals.Screen(), [], [], set()
    for at, (time, text) in enumerate(shown):
        screen.feed(text)
        if at + 1 < len(shown) and shown[at + 1][0] - time < FRAME_SECONDS:
            continue
        row = len(screen.lines) - 1
        pens.append((time / seconds, f"{screen.column * terminals.CHARACTER:g}px, {row * terminals.LINE}px"))
        pages.append((time / seconds, f"0px, {min(0, ROWS - 1 - row) * terminals.LINE}px"))
        seen.update(range(row - ROWS + 1, row + 1))
    pens[0], pages[0] = (0, pens[0][1]), (0, pages[0][1])
    width, height = terminals.COLUMNS * terminals.CHARACTER, ROWS * terminals.LINE
    # A line that went by too fast to be seen is not drawn.
    lines = [line if row in seen else [] for row, line in enumerate(screen.lines)]
    content = f"""<g class="page">
{terminals.drawn(lines)}
<g class="pen"><rect width="{width:g}" height="{terminals.LINE}" class="cbg"/>
<rect x="-{width:g}" y="{terminals.LINE}" width="{2 * width:g}" height="{height}" class="cbg"/>
<rect width="{terminals.CHARACTER}" height="{terminals.LINE - 2}" class="cdim"/></g>
</g>
<rect y="{height + 8}" width="{width:g}" height="2" class="cdim clock"/>"""
    styles = STYLES.format(seconds=seconds, pen=pens[-1][1], page=pages[-1][1], pens=keyframes(pens), pages=keyframes(pages))
    return terminals.picture(LABEL, ROWS, content, styles)


def main():
    weir, claude = map(pathlib.Path, sys.argv[1:])
    with terminals.home(weir, claude) as place:
        terminals.add_project(place)
        shown, seconds = recorded(place)
    svg = animated(shown, seconds)
    terminals.write("first-minute.svg", svg)
    print(f"{seconds:.1f} s, {len(svg)} bytes")


main()
