"""Reads recorded sessions of Claude Code as steps: what a client would do, in its order.

Invariant: only sessions that `halves.json` puts into the development half are read.
"""

import dataclasses
import gzip
import json
import pathlib


@dataclasses.dataclass
class Step:
    """One moment of a session. `rows` are the lines of the transcript that the client writes around it."""

    kind: str  # prompt, said, called, ran, failed, compacted, or other for lines that only the transcript has
    row: dict
    text: str = ""
    tool: str = ""
    call: str = ""
    arguments: dict = dataclasses.field(default_factory=dict)
    response: object = None


@dataclasses.dataclass
class Recording:
    """A session, and the folder that it was recorded in."""

    name: str
    path: pathlib.Path
    requests: int

    def steps(self, folder: str, key: str):
        """Yields the steps, as if the session ran in `folder` under `key`."""
        calls: dict[str, tuple[str, dict]] = {}
        for row in self._rows(folder, key):
            yield from steps_of_row(row, calls)

    def _rows(self, folder: str, key: str):
        recorded = None
        with gzip.open(self.path, "rt", errors="replace") as lines:
            for line in lines:
                row = parsed(line)
                if recorded is None:
                    recorded = row.get("cwd")
                if recorded and recorded in line:
                    row = parsed(line.replace(recorded, folder))
                if row:
                    yield {**row, "sessionId": key}


def parsed(line: str) -> dict:
    """Returns a line of a transcript; a line that is not JSON, of which recordings have a few, is empty."""
    try:
        row = json.loads(line)
    except ValueError:
        return {}
    return row if isinstance(row, dict) else {}


def development(folder: pathlib.Path) -> list[Recording]:
    """Returns the sessions of Claude Code in the development half, by name."""
    halves = json.loads((folder / "halves.json").read_text())
    found = []
    for name, known in sorted(halves.items()):
        path = folder / "sessions" / f"{name}.jsonl.gz"
        if known["half"] == "development" and name.startswith("claude-") and path.exists():
            found.append(Recording(name, path, known["requests"]))
    return found


def steps_of_row(row: dict, calls: dict):
    """Yields the steps of one line. `calls` remembers the calls whose results are still to come."""
    message = row.get("message") or {}
    content = message.get("content")
    if row.get("isCompactSummary"):
        yield Step("compacted", row)
    elif row.get("type") == "system":
        yield Step("other", row)
    elif row.get("type") == "assistant" and isinstance(content, list):
        yield from steps_of_assistant(row, content, calls)
    elif row.get("type") == "user" and not row.get("isMeta"):
        yield from steps_of_user(row, content, calls)


def steps_of_assistant(row: dict, content: list, calls: dict):
    text = "".join(part.get("text", "") for part in content if part.get("type") == "text")
    yield Step("said", row, text=text)
    for part in content:
        if part.get("type") == "tool_use":
            calls[part["id"]] = (part["name"], part.get("input") or {})
            tool, arguments = calls[part["id"]]
            yield Step("called", row, tool=tool, arguments=arguments, call=part["id"])


def steps_of_user(row: dict, content, calls: dict):
    if isinstance(content, str):
        yield Step("prompt", row, text=content)
        return
    for part in content or []:
        if part.get("type") == "text":
            yield Step("prompt", row, text=part["text"])
        if part.get("type") == "tool_result" and part.get("tool_use_id") in calls:
            yield step_of_result(row, part, calls.pop(part["tool_use_id"]))


def step_of_result(row: dict, part: dict, called: tuple[str, dict]) -> Step:
    tool, arguments = called
    text = text_of(part.get("content"))
    response = row.get("toolUseResult")
    kind = "failed" if part.get("is_error") else "ran"
    response = text if response is None else response
    return Step(kind, row, text=text, tool=tool, call=part["tool_use_id"], arguments=arguments, response=response)


def text_of(content) -> str:
    if isinstance(content, str):
        return content
    return "".join(part.get("text", "") for part in content or [] if isinstance(part, dict))
