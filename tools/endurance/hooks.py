"""Calls hooks as Claude Code does, and reads what they answer.

The payloads have the fields that Claude Code 2.1.325 was seen to send.
"""

import json
import re
import subprocess
import time

from kills import Kills
from ledger import Held, HookTime, Ledger, sha
from people import Person, finish

HELD_AS = re.compile(r"held as \[ctx:([a-z0-9]+)\]")
# Claude Code gives up on a hook after a minute.
HOOK_SECONDS = 60


class Hooks:
    """The hooks of one session in one project."""

    def __init__(self, person: Person, project: str, key: str, ledger: Ledger, kills: Kills):
        self.person, self.project, self.key = person, project, key
        self.ledger, self.kills = ledger, kills
        self.folder = person.project(project)
        name = str(self.folder).replace("/", "-").replace(".", "-")
        self.transcript = person.home / ".claude/projects" / name / f"{key}.jsonl"
        self.transcript.parent.mkdir(parents=True, exist_ok=True)
        self.calls = 0

    @property
    def variables(self) -> dict:
        """What the client adds to the environment of hooks and servers."""
        session = {"CLAUDECODE": "1", "CLAUDE_CODE_SESSION_ID": self.key, "CLAUDE_PROJECT_DIR": str(self.folder)}
        return {"AI_AGENT": "claude-code_2-1-325_harness", **session}

    def call(self, event: str, more: dict, counted_as: str = "") -> dict | None:
        """Calls a hook. Returns its answer; none if it was killed, or has nothing to say."""
        name = counted_as or event
        payload = {
            "session_id": self.key,
            "transcript_path": str(self.transcript),
            "cwd": str(self.folder),
            "permission_mode": "default",
            "hook_event_name": event,
            **more,
        }
        data = json.dumps(payload).encode()
        self.calls += 1
        begun = time.perf_counter()
        process = self.person.start(["hook", "claude", event], self.folder, self.variables)
        killed, (out, err) = self._wait(process, data)
        spent = (time.perf_counter() - begun) * 1000
        if killed:
            self.ledger.count(f"killed {name}", self.person.name, self.project)
            return None
        self.ledger.hook(HookTime(self.person.name, self.project, event, len(data), spent, time.monotonic()))
        self.ledger.count(name, self.person.name, self.project)
        if process.returncode != 0 or err:
            self.ledger.fail(f"hook {event} ended with {process.returncode}: {err[:300]!r}")
        return answer_of(out)

    def _wait(self, process: subprocess.Popen, data: bytes) -> tuple[bool, tuple[bytes, bytes]]:
        after = self.kills.after("hook", 0.1)
        if after is None:
            return False, finish(process, data, HOOK_SECONDS)
        try:
            return False, process.communicate(data, timeout=after)
        except subprocess.TimeoutExpired:
            process.kill()
            self.kills.done("hook")
            return True, process.communicate()

    def ran(self, tool: str, arguments: dict, response, call: str) -> object:
        """Reports a tool's output. Returns what the client shows: the output, or what replaces it."""
        told = {"tool_name": tool, "tool_input": arguments, "tool_response": response, "tool_use_id": call}
        answer = self.call("PostToolUse", {**told, "duration_ms": 40})
        shown = ((answer or {}).get("hookSpecificOutput") or {}).get("updatedToolOutput")
        if shown is None:
            return response
        self.ledger.count("replaced", self.person.name, self.project)
        found = HELD_AS.search("\n".join(strings(shown)))
        if found:
            self._hold(found[1], sent(response))
        else:
            self.ledger.count("replaced without reference", self.person.name, self.project)
        return shown

    def _hold(self, reference: str, text: str | None) -> None:
        data = (text or "").encode()
        self.ledger.hold(
            Held(self.project, self.person.name, reference, sha(data), len(data), text is not None, "hook")
        )


def answer_of(out: bytes) -> dict | None:
    """Returns the answer of a hook; text for the client's summary, which is no JSON, as it is."""
    try:
        return json.loads(out) if out else None
    except ValueError:
        return {"text": out.decode("utf-8", "replace")}


def sent(response) -> str | None:
    """Returns the text of an output, if its shape says exactly what the text is."""
    if isinstance(response, str):
        return response
    if isinstance(response, dict) and isinstance(response.get("stdout"), str):
        return None if response.get("stderr") else response["stdout"]
    file = response.get("file") if isinstance(response, dict) else None
    return file.get("content") if isinstance(file, dict) else None


def strings(value):
    """Yields every text in a JSON value."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, (dict, list)):
        for one in value.values() if isinstance(value, dict) else value:
            yield from strings(one)
