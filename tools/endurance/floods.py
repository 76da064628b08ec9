"""Outputs that no two of are alike and that hardly compress: they fill a store until its quota evicts some."""

import random
import uuid

from hooks import Hooks
from kills import Kills
from ledger import Ledger
from people import Person

LINES = 9000


def play(person: Person, project: str, number: int, chance: random.Random, ledger: Ledger, kills: Kills) -> None:
    """Plays one session whose commands print much."""
    hooks = Hooks(person, project, str(uuid.UUID(int=chance.getrandbits(128), version=4)), ledger, kills)
    hooks.transcript.touch()
    hooks.call("SessionStart", {"source": "startup"})
    for at in range(number):
        text = "".join(f"row {line}: {chance.getrandbits(110)}\n" for line in range(LINES))
        response = {"stdout": text, "stderr": "", "interrupted": False, "isImage": False}
        hooks.ran("Bash", {"command": f"make report-{at}"}, response, f"toolu_flood{at}")
    hooks.call("SessionEnd", {"reason": "other"})
    # The index grows when somebody searches.
    person.run(["search", "row"], person.project(project))
