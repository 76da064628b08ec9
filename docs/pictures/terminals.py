"""What the scripts beside this file share: a home in a terminal, what a terminal showed, and how that is drawn.

Programs find the home at /home/me, in mounts of their own, so no path of the machine gets into a picture.
"""

import contextlib
import fcntl
import html
import os
import pathlib
import pty
import re
import select
import shutil
import signal
import socket
import struct
import subprocess
import tempfile
import termios
import time

HERE = pathlib.Path(__file__).resolve().parent
PROJECT = HERE.parent.parent / "bench/recall/make/pytest/billing"
HOME, PREFIX = "/home/me", "weir-picture-"
COLUMNS = 100
ENVIRONMENT = {
    "HOME": HOME,
    "PATH": f"{HOME}/.local/bin:{HOME}/billing/.venv/bin:/usr/local/bin:/usr/bin:/bin",
    "TERM": "xterm-256color", "LANG": "C.UTF-8", "PAGER": "cat", "INPUTRC": f"{HOME}/.inputrc",
    "PYTHONDONTWRITEBYTECODE": "1", "PYTEST_ADDOPTS": "-p no:cacheprovider",
}  # fmt: skip

# In pixels. Each stretch of text has its own length, so any monospace font fits.
CHARACTER, LINE, MARGIN = 8.4, 20, 16
WIDTH = COLUMNS * CHARACTER + 2 * MARGIN
# What terminals call a style, and its colour on a light and on a dark background.
COLOURS = {
    "bg": ("#f6f8fa", "#0d1117"), "plain": ("#1f2328", "#e6edf3"), "dim": ("#59636e", "#8b949e"),
    "31": ("#cf222e", "#ff7b72"), "32": ("#116329", "#3fb950"), "33": ("#7d4e00", "#d29922"),
    "34": ("#0550ae", "#58a6ff"), "35": ("#6639ba", "#bc8cff"), "36": ("#0e6070", "#39c5cf"),
}  # fmt: skip
NAMES = {"2": "dim", "90": "dim", "37": "39", "97": "39", **{str(number + 60): str(number) for number in range(31, 37)}}
SEQUENCE = re.compile(r"\x1b\[([\d;]*)([mK])|\r|\n|[^\x00-\x1f\x7f]")


@contextlib.contextmanager
def home(*programs):
    """A home with programs in it, for as long as it is needed."""
    with tempfile.TemporaryDirectory(prefix=PREFIX) as folder:
        place = pathlib.Path(folder, "me")
        (place / ".local/bin").mkdir(parents=True)
        (place / ".inputrc").write_text("set enable-bracketed-paste off\n")
        for program in programs:
            shutil.copy(program, place / ".local/bin")
        yield place


def add_project(place):
    """Copies a small project whose tests fail, and installs pytest in it."""
    shutil.copytree(PROJECT, place / "billing")
    for command in ("git init --quiet", "python3 -m venv .venv", ".venv/bin/pip install --quiet pytest"):
        subprocess.run(inside(place, *command.split()), env=ENVIRONMENT, check=True)


def inside(place, *command):
    """The command that runs another in the project, with the home where it belongs."""
    mounts = ["--mount"] if os.geteuid() == 0 else ["--mount", "--user", "--map-root-user"]
    script = f'mount --bind "$0" /home && cd {HOME}/billing && exec "$@"'
    return ["unshare", *mounts, "sh", "-c", script, str(place.parent), *command]


class Terminal:
    """A program on a terminal, and when it showed what: pairs of seconds and text."""

    def __init__(self, place, *command, rows=40, environment=None):
        self.shown, self.rest, self.begun = [], b"", time.monotonic()
        self.pid, self.file = pty.fork()
        if self.pid == 0:
            command = inside(place, *command)
            os.execvpe(command[0], command, ENVIRONMENT | (environment or {}))
        fcntl.ioctl(self.file, termios.TIOCSWINSZ, struct.pack("HHHH", rows, COLUMNS, 0, 0))

    def read(self, seconds):
        """Keeps what comes within so many seconds; returns whether the program is still there."""
        if not select.select([self.file], [], [], seconds)[0]:
            return True
        try:
            part = os.read(self.file, 65536)
        except OSError:
            return False
        part, self.rest = self.rest + part, b""
        # The last character may be incomplete.
        text = part.decode(errors="ignore")
        self.rest = part[len(text.encode()) :]
        self.shown.append((self.seconds(), text))
        return bool(part)

    def seconds(self):
        return time.monotonic() - self.begun

    def write(self, keys):
        os.write(self.file, keys.encode())

    def end(self):
        """Waits until the program has ended; returns its exit code."""
        while self.read(60):
            pass
        os.close(self.file)
        return os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1])

    def kill(self):
        os.kill(self.pid, signal.SIGKILL)
        os.waitpid(self.pid, 0)
        os.close(self.file)

    def text(self):
        return "".join(text for _, text in self.shown)


class Screen:
    """The lines that a terminal has shown, as long as programs only write on, or write the last line again."""

    def __init__(self):
        self.lines, self.column, self.style = [[]], 0, ()

    def feed(self, text):
        for found in re.finditer(r"\x1b(?:\[[\d;?]*[@-~]|.)|[^\x1b]", text, re.S):
            token = SEQUENCE.fullmatch(found[0])
            if not token:
                raise ValueError(f"the terminal was told {found[0]!r}, which cannot be drawn")
            if token[2] == "m":
                self.turn(token[1].split(";"))
            elif token[2] == "K":
                del self.lines[-1][self.column :]
            elif token[0] == "\r":
                self.column = 0
            elif token[0] == "\n":
                self.lines.append([])
            else:
                self.put(token[0])

    def turn(self, codes):
        for code in (NAMES.get(code.lstrip("0"), code.lstrip("0")) for code in codes):
            if not code:
                self.style = ()
            elif code == "1" or code in COLOURS:
                self.style = (*(name for name in self.style if (name == "1") != (code == "1")), code)
            elif code == "39":
                self.style = tuple(name for name in self.style if name == "1")
            elif code == "22":
                self.style = tuple(name for name in self.style if name not in ("1", "dim"))
            elif code != "49":
                raise ValueError(f"the style {code} cannot be drawn")

    def put(self, character):
        if self.column == COLUMNS:
            self.lines.append([])
            self.column = 0
        line = self.lines[-1]
        line.extend([(" ", ())] * (self.column + 1 - len(line)))
        line[self.column] = (character, self.style)
        self.column += 1


def lines_of(text):
    """The lines that a terminal shows of a text."""
    screen = Screen()
    screen.feed(text.replace("\r\n", "\n").replace("\n", "\r\n"))
    return screen.lines


def drawn(lines, first=0):
    """Lines as SVG, the first of them below so many others."""
    return "\n".join(stretch(row, *part) for row, line in enumerate(lines, first) for part in stretches(line))


def stretches(line):
    """The parts of a line in one style, with the column of each, without the blanks around them."""
    column = 0
    while column < len(line):
        end = next((at for at in range(column, len(line)) if line[at][1] != line[column][1]), len(line))
        # A wide gap would be stretched with the text around it.
        text = "".join(character for character, _ in line[column:end])
        for part in re.finditer(r"\S+(?: \S+)*", text):
            yield column + part.start(), part[0], line[column][1]
        column = end


def stretch(row, column, text, style):
    names = " ".join(f"c{name}" for name in style)
    names = f' class="{names}"' if names else ""
    x, y, length = column * CHARACTER, row * LINE + 15, len(text) * CHARACTER
    return f'<text x="{x:g}" y="{y}" textLength="{length:g}"{names}>{html.escape(text, quote=False)}</text>'


def picture(label, height, content, styles=""):
    """An SVG of so many lines, in light or dark colours as the reader has chosen."""
    height = height * LINE + 2 * MARGIN
    themes = [
        " ".join(f".c{name} {{ fill: {pair[theme]} }}" for name, pair in COLOURS.items() if name != "plain")
        + f" text {{ fill: {COLOURS['plain'][theme]} }}"
        for theme in (0, 1)
    ]
    return f"""<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH:g} {height}" role="img" aria-label="{label}">
<style>
text {{ font: 14px ui-monospace, SFMono-Regular, Menlo, Consolas, monospace; white-space: pre }}
.c1 {{ font-weight: bold }}
{themes[0]}
@media (prefers-color-scheme: dark) {{ {themes[1]} }}
{styles}</style>
<rect width="100%" height="100%" rx="8" class="cbg"/>
<svg x="{MARGIN}" y="{MARGIN}" width="{COLUMNS * CHARACTER:g}" height="{height - MARGIN}">
{content}
</svg>
</svg>
"""


def write(name, text):
    """Writes a file beside this one, if it names nothing of this machine."""
    machine = [str(HERE.parent.parent), str(pathlib.Path.home()), PREFIX, socket.gethostname()]
    if found := [name for name in machine if name != HOME and name in text]:
        raise ValueError(f"{name} would name {found}")
    (HERE / name).write_text(text)
