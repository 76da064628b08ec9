#!/usr/bin/env python3
"""Records a failing test run with Weir, for the README.

  python3 docs/pictures/terminal.py PATH-OF-WEIR

Needs `rich` (pip install rich), git, a Python below /usr with venv, and the network for pip. Copies a small project
whose tests fail, bench/recall/make/pytest/billing, into an empty home in a temporary folder, installs pytest there, and
types the commands below on a terminal of 100 columns. Writes beside this file:

  terminal.svg   what the terminal showed; of an output longer than 8 lines, the end, below a line that says so
  digest.txt     what a model gets of the same command, without the two marks around it

The reference and the times are those of the recording, so they differ each time.
"""

import fcntl
import io
import os
import pathlib
import pty
import shutil
import struct
import subprocess
import sys
import tempfile
import termios

import rich.console
import rich.terminal_theme
import rich.text

HERE = pathlib.Path(__file__).resolve().parent
PROJECT = HERE.parent.parent / "bench/recall/make/pytest/billing"
COLUMNS, MAX_LINES = 100, 8

TEST = "python -m pytest -q -k renewal"
PERSON, MODEL = f"weir run '{TEST}'", f"weir run --for-model '{TEST}'"
# What is typed, and what a reader is told about it.
TYPED = [
    (PERSON, "what you see"),
    (MODEL, "what a model gets"),
    ("weir get --lines 20-27", "nothing is lost"),
]

# The format of rich, without the fonts that it loads from elsewhere and without the window around the text.
SVG = """<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {terminal_width} {terminal_height}" role="img"
 aria-label="A terminal: a failing test run, the digest of it, and lines of the full output">
<style>
.{unique_id}-matrix {{ font: {char_height}px ui-monospace, SFMono-Regular, Menlo, Consolas, monospace; white-space: pre; }}
{styles}
</style>
<rect width="100%" height="100%" rx="8" fill="#0d1117"/>
<defs>{lines}</defs>
<g transform="translate(9, 9)">{backgrounds}<g class="{unique_id}-matrix">{matrix}</g></g>
</svg>
"""
THEME = rich.terminal_theme.TerminalTheme(
    (13, 17, 23), (230, 237, 243),
    [(139, 148, 158), (255, 123, 114), (63, 185, 80), (210, 153, 34), (88, 166, 255), (188, 140, 255), (57, 197, 207), (177, 186, 196)],
)


def on_terminal(command, folder, environment):
    """Runs a command on a terminal, and returns what it showed."""
    pid, terminal = pty.fork()
    if pid == 0:
        os.chdir(folder)
        os.execvpe("sh", ["sh", "-c", f"sleep 0.1; {command}"], environment)
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 40, COLUMNS, 0, 0))
    shown = bytearray()
    while True:
        try:
            part = os.read(terminal, 65536)
        except OSError:
            break
        if not part:
            break
        shown += part
    code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    return code, shown.decode().replace("\r\n", "\n").rstrip("\n")


def prepared(home, weir):
    """Makes the project, and returns its folder and the environment of its user."""
    folder = home / "billing"
    shutil.copytree(PROJECT, folder)
    path = "/usr/local/bin:/usr/bin:/bin"
    subprocess.run(["git", "init", "--quiet", folder], check=True)
    subprocess.run([shutil.which("python3", path=path), "-m", "venv", folder / ".venv"], check=True)
    subprocess.run([folder / ".venv/bin/pip", "install", "--quiet", "pytest"], check=True)
    (home / "bin").mkdir()
    (home / "bin/weir").symlink_to(pathlib.Path(weir).resolve())
    return folder, {
        "HOME": str(home), "PATH": f"{home}/bin:{folder}/.venv/bin:{path}", "TERM": "xterm-256color", "LANG": "C.UTF-8",
        "PAGER": "cat", "PYTHONDONTWRITEBYTECODE": "1", "PYTEST_ADDOPTS": "-p no:cacheprovider",
    }


def draw(steps):
    """Returns the steps as a picture."""
    console = rich.console.Console(
        record=True, width=COLUMNS + 5, file=io.StringIO(), force_terminal=True, color_system="truecolor", highlight=False
    )
    for index, (command, remark, shown) in enumerate(steps):
        if index:
            console.print()
        console.print(rich.text.Text.assemble(("$ ", "green"), (command, "bold"), (f"   # {remark}", "bright_black")))
        lines = rich.text.Text.from_ansi(shown).split("\n")
        if len(lines) > MAX_LINES:
            console.print(rich.text.Text(f"… {len(lines) - MAX_LINES} lines above", "bright_black"))
        for line in lines[-MAX_LINES:]:
            for row in line.divide(range(COLUMNS, len(line), COLUMNS)):
                console.print(row)
    console.print()
    return console.export_svg(title="", theme=THEME, code_format=SVG, font_aspect_ratio=0.61, unique_id="t")


def main():
    with tempfile.TemporaryDirectory() as home:
        folder, environment = prepared(pathlib.Path(home), sys.argv[1])
        steps = []
        for command, remark in TYPED:
            code, shown = on_terminal(command, folder, environment)
            if command in (PERSON, MODEL) and code != 1:
                sys.exit(f"{command} exited with {code}, and the tests of the project fail:\n{shown}")
            if command == MODEL:
                lines = [line for line in shown.splitlines() if not line.startswith("<<<") and not line.endswith(">>>")]
                shown = "\n".join(lines)
                (HERE / "digest.txt").write_text(f"{shown}\n")
            steps.append((command, remark, shown))
        (HERE / "terminal.svg").write_text(draw(steps))


main()
