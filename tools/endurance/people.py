"""The people, their homes and their clones of the projects, and how they start programs.

Invariant: everything is below one temporary folder, and a process that is started here has its `HOME` there, by which
`left_over` finds it.
"""

import dataclasses
import os
import pathlib
import signal
import subprocess
import time

QUOTA_MB = 16
NAMES = ["ana", "ben", "cho"]


@dataclasses.dataclass
class Ended:
    """How a command ended."""

    code: int
    out: bytes
    err: bytes
    ms: float

    @property
    def text(self) -> str:
        return self.out.decode("utf-8", "replace")

    @property
    def said(self) -> str:
        return (self.out + self.err).decode("utf-8", "replace")


class Person:
    """Somebody with a home, in which `bin/weir` is the program that they use."""

    def __init__(self, root: pathlib.Path, name: str, program: pathlib.Path, variables: dict | None = None):
        self.name = name
        self.variables = variables or {}
        self.home = root / name
        self.bin = self.home / "bin"
        self.bin.mkdir(parents=True)
        self.weir = self.bin / "weir"
        self.upgrade(program)

    def upgrade(self, program: pathlib.Path) -> None:
        """Replaces the program while others may be running it, as an installer does."""
        install(program, self.weir)

    @property
    def data(self) -> pathlib.Path:
        return self.home / ".local/share/weir"

    def project(self, name: str) -> pathlib.Path:
        return self.home / "src" / name

    def environment(self, more: dict | None = None) -> dict:
        path = f"{self.bin}:/usr/local/bin:/usr/bin:/bin"
        return {"HOME": str(self.home), "PATH": path, "LANG": "C.UTF-8", "USER": self.name, **self.variables, **(more or {})}

    def start(self, arguments: list[str], folder: pathlib.Path, more: dict | None = None) -> subprocess.Popen:
        return subprocess.Popen(
            [str(self.weir), *arguments],
            cwd=folder,
            env=self.environment(more),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )

    def run(self, arguments: list[str], folder: pathlib.Path, more: dict | None = None, stdin=b"", limit=300) -> Ended:
        """Runs the program to its end; after `limit` seconds it is killed, and the exit code says so."""
        begun = time.perf_counter()
        process = self.start(arguments, folder, more)
        out, err = finish(process, stdin, limit)
        return Ended(process.returncode, out, err, (time.perf_counter() - begun) * 1000)

    def configure(self, text: str) -> None:
        folder = self.home / ".config/weir"
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "config.toml").write_text(text)

    def clone(self, name: str) -> None:
        """Makes an empty repository, which is the same for everybody."""
        folder = self.project(name)
        folder.mkdir(parents=True)
        (folder / "README.md").write_text(f"# {name}\n\nOne of the projects of this run.\n")
        author = ["-c", "user.name=t", "-c", "user.email=t@example.invalid"]
        for command in [["init", "-q", "-b", "main", "."], ["add", "."], [*author, "commit", "-q", "-m", "Begin"]]:
            subprocess.run(["git", *command], cwd=folder, env=self.environment(), check=True, capture_output=True)


def install(program: pathlib.Path, place: pathlib.Path) -> None:
    """Puts a program in the place of another, by a link: it is large, and the folder is the same."""
    arriving = place.with_name("arriving")
    # Where both are links to one file, the replacement below does nothing.
    arriving.unlink(missing_ok=True)
    os.link(program, arriving)
    os.replace(arriving, place)


def finish(process: subprocess.Popen, stdin: bytes, limit: float) -> tuple[bytes, bytes]:
    try:
        return process.communicate(stdin, timeout=limit)
    except subprocess.TimeoutExpired:
        process.kill()
        return process.communicate()


def left_over(root: pathlib.Path) -> list[tuple[int, str]]:
    """Returns the processes whose home is below a folder, with their command lines."""
    found = []
    for folder in pathlib.Path("/proc").iterdir():
        if folder.name.isdigit() and home_of(folder).startswith(f"{root}/"):
            command = (folder / "cmdline").read_bytes().replace(b"\0", b" ").decode("utf-8", "replace")
            found.append((int(folder.name), command.strip()))
    return found


def home_of(folder: pathlib.Path) -> str:
    try:
        variables = (folder / "environ").read_bytes().split(b"\0")
    except OSError:
        return ""
    return next((os.fsdecode(one[5:]) for one in variables if one.startswith(b"HOME=")), "")


def end_all(root: pathlib.Path) -> int:
    """Kills what is left of this run, by its home. Returns how many processes that were."""
    left = left_over(root)
    for pid, _ in left:
        try:
            os.kill(pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
    return len(left)
