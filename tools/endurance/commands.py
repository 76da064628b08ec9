"""The commands that are timed, with their budgets.

A budget is in milliseconds at p50, for a release program on an idle machine; it is there only where the documents say
what a command may take.
"""

import argparse
import dataclasses
import json
import statistics
import time
from collections.abc import Callable

import made_up
import mcp
from pages import Pages
from people import Ended, Person

PAGES = ["/", "/sessions", "/search?q=barabaco", "/notes", "/projects", "/health"]
HOOK_MS = 50


@dataclasses.dataclass
class Timed:
    name: str
    ms: list[float]
    budget: float | None
    fault: str = ""

    @property
    def p50(self) -> float:
        return statistics.median(self.ms) if self.ms else float("nan")


def timed(person: Person, options: argparse.Namespace) -> list[Timed]:
    """Times everything on the store as it is."""
    folder = person.project("p01")
    rows = []
    for name, arguments in COMMANDS:
        rows.append(repeated(name, None, options, lambda limit, a=arguments: person.run(a, folder, limit=limit)))
    rows += [hook_row(person, event, more, options) for event, more in HOOKS]
    rows.append(mcp_row(person, options))
    rows += pages_rows(person, options)
    for file in (person.home / "whole.jsonl", person.home / "whole.weir"):
        file.unlink(missing_ok=True)
    return rows


# In the order of docs/cli.md, as far as they look at the store.
COMMANDS = [
    ("weir", []),
    ("note", ["note", "Growth is measured with made-up entries", "--kind", "finding"]),
    ("search, rare word", ["search", "entry00000777"]),
    ("search, three words", ["search", "zarzarzar", "montelmon", "telvewu"]),
    ("search, very common word", ["search", "bababa"]),
    ("search, only notes", ["search", "bababa", "--kind", "note"]),
    ("get", ["get", made_up.reference(777)]),
    ("history", ["history"]),
    ("history --sessions", ["history", "--sessions"]),
    ("history --kind error", ["history", "--kind", "error"]),
    ("reflect last", ["reflect", "last"]),
    ("reflect --since 7d", ["reflect", "--work", "main", "--since", "7d"]),
    ("context", ["context"]),
    ("map", ["map"]),
    ("stats", ["stats"]),
    ("doctor", ["doctor"]),
    ("handover", ["handover"]),
    ("notes", ["notes"]),
    ("notes --all", ["notes", "--all"]),
    ("runs", ["runs"]),
    ("forget (dry run)", ["forget", "--source", "make bababa"]),
    ("export", ["export", "../../whole.jsonl", "--force"]),
    ("backup", ["backup", "../../whole.weir", "--force"]),
]

HOOKS = [
    ("SessionStart", {"source": "startup"}),
    ("UserPromptSubmit", {"prompt": "Make the retry bounded"}),
    ("PreToolUse", {"tool_name": "Bash", "tool_input": {"command": "ls"}, "tool_use_id": "t"}),
    ("PostToolUse", {"tool_name": "Bash", "tool_input": {"command": "ls"}, "tool_use_id": "t",
                     "tool_response": {"stdout": "README.md", "stderr": "", "interrupted": False, "isImage": False}}),
    ("PreCompact", {"trigger": "auto"}),
    ("SessionStart", {"source": "compact"}),
    ("Stop", {"stop_hook_active": False, "last_assistant_message": "The retry is bounded."}),
    ("SessionEnd", {"reason": "other"}),
]


def repeated(name: str, budget: float | None, options, run: Callable[[float], Ended]) -> Timed:
    row = Timed(name, [], budget)
    for _ in range(options.rounds):
        ended = run(options.limit)
        row.ms.append(ended.ms)
        # 3 says that nothing was found.
        if ended.code not in (0, 3):
            row.fault = f"exit code {ended.code}: {ended.said.strip()[-160:]}"
        # One measurement of what takes long has to do.
        if ended.ms > options.limit * 250 or row.fault:
            break
    return row


def hook_row(person: Person, event: str, more: dict, options) -> Timed:
    folder = person.project("p01")
    told = {"session_id": "growth", "cwd": str(folder), "hook_event_name": event, "permission_mode": "default", **more}
    data = json.dumps(told).encode()
    name = f"hook {event}" + (", compact" if more.get("source") == "compact" else "")

    def call(limit: float) -> Ended:
        return person.run(["hook", "claude", event], folder, {"CLAUDECODE": "1"}, data, limit)

    return repeated(name, HOOK_MS, options, call)


def mcp_row(person: Person, options) -> Timed:
    """Times the start of `weir mcp` to its first answer."""
    row = Timed("mcp, first answer", [], None)
    for _ in range(options.rounds):
        begun = time.perf_counter()
        server = mcp.Server(person.start(["mcp"], person.project("p01"), {"CLAUDECODE": "1"}))
        row.ms.append((time.perf_counter() - begun) * 1000)
        server.end()
    return row


def pages_rows(person: Person, options) -> list[Timed]:
    rows = []
    pages = Pages(person, person.project("p01"))
    for path in PAGES:
        row = Timed(f"ui {path}", [], None)
        for _ in range(options.rounds):
            try:
                status, _, ms = pages.get(path)
            except TimeoutError as error:
                row.fault = str(error)
                break
            row.ms.append(ms)
            row.fault = row.fault or ("" if status == 200 else f"status {status}")
        rows.append(row)
    pages.end()
    return rows


def missed(rows: list[Timed]) -> list[str]:
    return [row.name for row in rows if row.fault or (row.budget is not None and row.p50 > row.budget)]


def show(tables: list[tuple[int, list[Timed]]]) -> None:
    """Prints a row for each command: p50 and the longest at each size, and the budget."""
    heads = [f"{entries:,} entries: p50 and longest, ms" for entries, _ in tables]
    print("| command | " + " | ".join(heads) + " | budget |")
    print("| --- | " + "--- | " * len(heads) + "--- |")
    for at, row in enumerate(tables[0][1]):
        sizes = [table[at] for _, table in tables]
        cells = [one.fault or f"{one.p50:,.0f} and {max(one.ms):,.0f}" for one in sizes]
        print(f"| {row.name} | " + " | ".join(cells) + f" | {row.budget or '–'} |")
