"""What Weir has acknowledged, written down by the one who heard it.

A note is acknowledged when its reference was returned, an output when its replacement was, a hook when it ended by
itself. What was killed before is uncertain: it may have happened or not, and the checks allow for both.
"""

import collections
import dataclasses
import hashlib
import json
import pathlib
import threading
import time


@dataclasses.dataclass
class Note:
    project: str
    person: str
    word: str
    reference: str


@dataclasses.dataclass
class Held:
    """An output that was held back. `exact` says that its bytes are known from what was sent."""

    project: str
    person: str
    reference: str
    sha: str
    size: int
    exact: bool
    by: str  # hook, run or gateway


@dataclasses.dataclass
class HookTime:
    person: str
    project: str
    event: str
    size: int
    ms: float
    at: float


class Ledger:
    """One for the whole run; every method can be called from any thread."""

    def __init__(self, path: pathlib.Path):
        self._lock = threading.Lock()
        self._file = path.open("a")
        self.begun = time.monotonic()
        self.notes: list[Note] = []
        self.uncertain_notes: list[Note] = []
        self.held: list[Held] = []
        self.times: list[HookTime] = []
        # By what, person and project.
        self.counts: collections.Counter = collections.Counter()
        self.trouble: list[str] = []

    def note(self, note: Note) -> None:
        self._keep("note" if note.reference else "uncertain note", note)
        with self._lock:
            (self.notes if note.reference else self.uncertain_notes).append(note)

    def hold(self, held: Held) -> None:
        self._keep("held", held)
        with self._lock:
            self.held.append(held)

    def hook(self, time_: HookTime) -> None:
        with self._lock:
            self.times.append(time_)

    def count(self, what: str, person: str, project: str) -> None:
        with self._lock:
            self.counts[what, person, project] += 1

    def counted(self, what: str, person: str = "", project: str = "") -> int:
        with self._lock:
            return sum(
                number
                for (name, who, where), number in self.counts.items()
                if name == what and person in ("", who) and project in ("", where)
            )

    def fail(self, what: str) -> None:
        """Notes something that must not happen."""
        self._keep("trouble", {"what": what})
        with self._lock:
            self.trouble.append(what)

    def held_by(self, person: str, project: str) -> list[Held]:
        with self._lock:
            return [one for one in self.held if (one.person, one.project) == (person, project)]

    def _keep(self, kind: str, what) -> None:
        fields = what if isinstance(what, dict) else dataclasses.asdict(what)
        line = json.dumps({"kind": kind, "second": round(time.monotonic() - self.begun, 3), **fields})
        with self._lock:
            self._file.write(line + "\n")
            self._file.flush()


def sha(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()
