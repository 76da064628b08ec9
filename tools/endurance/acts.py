"""What a model does with Weir's tools over MCP in the middle of a session, and what must come back."""

import random
import re
import time

import mcp
import probe_server
from hooks import HELD_AS, Hooks
from ledger import Held, Note, sha

ACTS = {"annotate": 8, "search": 5, "execute": 3, "get": 3, "gateway": 3}
WORDS = re.compile(r"[A-Za-z]{3,}")
# A gateway's result and a run's output of so many rows are long enough to be held back.
LONG_ROWS, SHORT_ROWS = 3000, 5


class Acts:
    """The calls of one session. The server starts with the first and is started again when it was killed."""

    def __init__(self, hooks: Hooks, chance: random.Random):
        self.hooks, self.random = hooks, chance
        self.person, self.project, self.ledger = hooks.person.name, hooks.project, hooks.ledger
        self.server: mcp.Server | None = None
        self.notes: list[Note] = []
        self.number = 0

    def any(self, said: str) -> None:
        name = self.random.choices(list(ACTS), weights=list(ACTS.values()))[0]
        try:
            getattr(self, f"_{name}")(said)
        except mcp.Gone as gone:
            self.ledger.fail(f"{self.person} {self.project}: weir mcp during {name}: {gone}")
            self.server = None

    def end(self) -> None:
        if self.server:
            self.server.end()
        self.server = None

    def _call(self, tool: str, arguments: dict) -> str | None:
        """Returns the text of an answer; none if the server was killed before it answered."""
        if self.server is None:
            process = self.hooks.person.start(["mcp"], self.hooks.folder, self.hooks.variables)
            self.server = mcp.Server(process)
        number = self.server.begin("tools/call", {"name": tool, "arguments": arguments})
        after = self.hooks.kills.after("mcp", 0.2)
        if after is not None:
            return self._killed(number, after)
        text, failed = mcp.result(self.server.answer(number))
        if failed:
            self.ledger.fail(f"{self.person} {self.project}: {tool} {arguments}: {text[:300]}")
        self.ledger.count(tool, self.person, self.project)
        return text

    def _killed(self, number: int, after: float) -> str | None:
        time.sleep(after)
        self.server.kill()
        self.hooks.kills.done("mcp")
        server, self.server = self.server, None
        try:
            return mcp.result(server.answer(number))[0]
        except mcp.Gone:
            return None

    def _annotate(self, said: str) -> None:
        self.number += 1
        word = f"note{self.random.randrange(10**7):07d}{self.person}"
        told = " ".join(WORDS.findall(said)[:20]) or "Nothing was said yet"
        text = f"{word}: {told}."
        answer = self._call("ctx_annotate", {"text": text, "kind": "finding"})
        reference = re.search(r"ctx:([a-z0-9]+)", answer or "")
        note = Note(self.project, self.person, word, reference[1] if reference else "")
        self.ledger.note(note)
        if reference:
            self.notes.append(note)

    def _search(self, _: str) -> None:
        if not self.notes:
            return
        word = self.random.choice(self.notes).word
        answer = self._call("ctx_search", {"queries": [word]})
        if answer is not None and word not in answer:
            self.ledger.fail(f"{self.person} {self.project}: ctx_search does not find {word}: {answer[:200]}")

    def _execute(self, _: str) -> None:
        rows = self.random.choice([SHORT_ROWS, LONG_ROWS])
        start = self.random.randrange(10**6)
        answer = self._call("ctx_execute", {"code": f"seq {start} {start + rows - 1}"})
        text = "".join(f"{number}\n" for number in range(start, start + rows))
        self._hold(answer, text, "run", rows == SHORT_ROWS)

    def _gateway(self, _: str) -> None:
        rows, customer = self.random.choice([SHORT_ROWS, LONG_ROWS]), self.random.randrange(10**6)
        arguments = {"customer": customer, "rows": rows}
        answer = self._call("ctx_call_read", {"server": "probe", "tool": "rows", "arguments": arguments})
        self._hold(answer, probe_server.rows(customer, rows), "gateway", rows == SHORT_ROWS)

    def _get(self, _: str) -> None:
        held = self.ledger.held_by(self.person, self.project)
        if held:
            self._call("ctx_get", {"ref": self.random.choice(held[-20:]).reference})

    def _hold(self, answer: str | None, text: str, by: str, short: bool) -> None:
        """Writes down a long answer as held; a short one must be there as it is."""
        if answer is None:
            return
        found = re.search(r"\[ctx:([a-z0-9]+)\]", answer)
        if short and text.strip() not in answer:
            self.ledger.fail(f"{self.person} {self.project}: {by}: not the answer: {answer[:200]}")
        elif not short and not found:
            self.ledger.fail(f"{self.person} {self.project}: {by}: not held back: {answer[:200]}")
        elif not short:
            data = text.encode()
            self.ledger.hold(Held(self.project, self.person, found[1], sha(data), len(data), True, by))
