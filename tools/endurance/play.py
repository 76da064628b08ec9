"""Plays one recorded session as a client: its hooks, its transcript, the files that it read and wrote, and its server."""

import json
import pathlib
import random
import time

from acts import Acts
from hooks import Hooks
from kills import Kills
from ledger import Ledger
from people import Person
from recordings import Recording, Step

# What the client writes into a conversation by itself is not a prompt.
NOT_PROMPTS = ("[Request interrupted", "<local-command", "<command-name", "<bash-", "Operation stopped by hook:")


class Session:
    """A session of one person in one project."""

    def __init__(self, person: Person, project: str, recording: Recording, key: str, ledger: Ledger, kills: Kills):
        self.hooks = Hooks(person, project, key, ledger, kills)
        self.acts = Acts(self.hooks, random.Random(key))
        self.recording = recording
        self.random = random.Random(f"{key}-acts")
        self.said = ""
        self.written: dict | None = None

    def play(self, until: float, most_hooks: int, every: int) -> None:
        """Plays until the recording, the time or the number of hooks is at its end; about one in `every` steps is
        followed by a call of a tool of Weir."""
        hooks = self.hooks
        hooks.call("SessionStart", {"source": "startup"})
        for step in self.recording.steps(str(hooks.folder), hooks.key):
            if time.monotonic() > until or hooks.calls >= most_hooks:
                break
            self._step(step)
            if step.kind == "ran" and self.random.random() < 1 / every:
                self.acts.any(self.said)
        self._turn_ends()
        hooks.call("SessionEnd", {"reason": "other"})
        self.acts.end()

    def _step(self, step: Step) -> None:
        if step.kind not in ("ran", "failed"):
            self._write(step.row)
        if step.kind == "said":
            self.said = step.text or self.said
        elif step.kind == "prompt" and not step.text.startswith(NOT_PROMPTS):
            self._turn_ends()
            self._prompt(step.text)
        elif step.kind == "called" and step.tool == "Bash":
            told = {"tool_name": "Bash", "tool_input": step.arguments, "tool_use_id": step.call}
            self.hooks.call("PreToolUse", told)
        elif step.kind == "ran":
            self._ran(step)
        elif step.kind == "failed":
            told = {"tool_name": step.tool, "tool_input": step.arguments, "tool_use_id": step.call}
            self.hooks.call("PostToolUseFailure", {**told, "error": step.text, "is_interrupt": False})
            self._write(step.row)
        elif step.kind == "compacted":
            self._compact()

    def _prompt(self, text: str) -> None:
        event = "UserPromptSubmit"
        # A command of the client is not a request to the model, and Weir does not record it as one.
        is_command = text.strip().startswith("/")
        self.hooks.call(event, {"prompt": text}, "client's command" if is_command else event)

    def _ran(self, step: Step) -> None:
        self._materialise(step)
        shown = self.hooks.ran(step.tool, step.arguments, step.response, step.call)
        if shown is step.response:
            self._write(step.row)
        else:
            self._write(replaced(step.row, step.call, shown))

    def _compact(self) -> None:
        self.hooks.call("PreCompact", {"trigger": "auto", "custom_instructions": ""})
        self.hooks.call("SessionStart", {"source": "compact"})
        self.hooks.call("PostCompact", {"trigger": "auto", "compact_summary": ""})

    def _turn_ends(self) -> None:
        if self.said:
            self.hooks.call("Stop", {"stop_hook_active": False, "last_assistant_message": self.said})
        self.said = ""

    def _write(self, row: dict) -> None:
        """Appends a line to the transcript, once."""
        if row is self.written:
            return
        self.written = row
        with self.hooks.transcript.open("a") as transcript:
            transcript.write(json.dumps(row) + "\n")

    def _materialise(self, step: Step) -> None:
        """Brings a file of the project to the state that the recorded tool left it in, or found."""
        response = step.response if isinstance(step.response, dict) else {}
        path, text = state_of_file(step.tool, response)
        root = self.hooks.folder
        if text is None or not path.startswith(f"{root}/") or ".." in path:
            return
        file = pathlib.Path(path)
        try:
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text)
        except OSError:
            pass  # A folder of one recording can be a file of another.


def state_of_file(tool: str, response: dict) -> tuple[str, str | None]:
    if tool == "Read":
        file = response.get("file") or {}
        whole = file.get("startLine") == 1 and file.get("numLines") == file.get("totalLines")
        return file.get("filePath", ""), file.get("content") if whole else None
    if tool == "Write":
        return response.get("filePath", ""), response.get("content")
    before, old, new = (response.get(key) for key in ("originalFile", "oldString", "newString"))
    if tool == "Edit" and before and old:
        return response.get("filePath", ""), before.replace(old, new or "", -1 if response.get("replaceAll") else 1)
    return "", None


def replaced(row: dict, call: str, shown) -> dict:
    """Returns the line of a result with what the client shows in its place."""
    text = next((one for one in (shown.get("stdout"), shown.get("content")) if one), None) if isinstance(shown, dict) else shown
    if text is None and isinstance(shown, dict):
        text = (shown.get("file") or {}).get("content", "")
    content = [
        {**part, "content": text} if part.get("tool_use_id") == call else part for part in row["message"]["content"]
    ]
    return {**row, "toolUseResult": shown, "message": {**row["message"], "content": content}}
