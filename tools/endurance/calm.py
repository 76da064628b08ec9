"""Hooks one after the other while nothing else of the run works, next to `/bin/true`: how fast they are, apart from
what the machine does otherwise."""

import dataclasses
import statistics
import subprocess
import time
import uuid

from hooks import Hooks
from kills import Kills
from ledger import Ledger
from people import Person

ROUNDS = 60


@dataclasses.dataclass
class Calm:
    """Milliseconds of small hooks, and of starting a program that does nothing."""

    hook: list[float]
    nothing: list[float]

    def __str__(self) -> str:
        hook, nothing = (statistics.quantiles(taken, n=100, method="inclusive") for taken in (self.hook, self.nothing))
        return f"{hook[49]:.1f} and {hook[94]:.1f} (/bin/true {nothing[49]:.1f} and {nothing[94]:.1f})"

    @property
    def p50(self) -> float:
        return statistics.median(self.hook)


def measured(person: Person, project: str, number: int, ledger: Ledger) -> Calm:
    """Reports small outputs of commands in a session of their own."""
    hooks = Hooks(person, project, str(uuid.UUID(int=number, version=4)), ledger, Kills(0, 0))
    hooks.transcript.touch()
    calm = Calm([], [])
    for at in range(ROUNDS):
        begun = time.perf_counter()
        subprocess.run(["/bin/true"], check=True)
        calm.nothing.append((time.perf_counter() - begun) * 1000)
        response = {"stdout": f"{at} is fine", "stderr": "", "interrupted": False, "isImage": False}
        hooks.ran("Bash", {"command": f"test-{at}"}, response, f"toolu_calm{at}")
        calm.hook.append(ledger.times.pop().ms)
    return calm
