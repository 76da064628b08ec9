"""A client of `weir mcp`: JSON-RPC, one message per line, over standard input and output."""

import json
import queue
import subprocess
import threading

ANSWER_SECONDS = 120


class Gone(Exception):
    """The server ended, or did not answer in time."""


class Server:
    """A running `weir mcp`. One thread calls it."""

    def __init__(self, process: subprocess.Popen):
        self.process = process
        self._last = 0
        self._lines: queue.Queue = queue.Queue()
        threading.Thread(target=self._read, daemon=True).start()
        # What it says to people must not fill the pipe.
        threading.Thread(target=process.stderr.read, daemon=True).start()
        client = {"name": "claude-code", "version": "2.1.325"}
        self.ask("initialize", {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": client})
        self._send({"jsonrpc": "2.0", "method": "notifications/initialized"})

    def _read(self) -> None:
        for line in self.process.stdout:
            self._lines.put(line)
        self._lines.put(None)

    def _send(self, message: dict) -> None:
        try:
            self.process.stdin.write(json.dumps(message).encode() + b"\n")
            self.process.stdin.flush()
        except OSError as error:
            raise Gone(str(error)) from error

    def begin(self, method: str, parameters: dict) -> int:
        self._last += 1
        self._send({"jsonrpc": "2.0", "id": self._last, "method": method, "params": parameters})
        return self._last

    def answer(self, number: int) -> dict:
        while True:
            try:
                line = self._lines.get(timeout=ANSWER_SECONDS)
            except queue.Empty:
                raise Gone(f"no answer within {ANSWER_SECONDS} s") from None
            if line is None:
                raise Gone("the server ended")
            message = json.loads(line)
            if message.get("id") == number and "method" not in message:
                return message

    def ask(self, method: str, parameters: dict) -> dict:
        return self.answer(self.begin(method, parameters))

    def call(self, tool: str, arguments: dict) -> tuple[str, bool]:
        """Returns the text of a tool's answer, and whether it is an error."""
        return result(self.ask("tools/call", {"name": tool, "arguments": arguments}))

    def end(self, limit: float = 20) -> None:
        """Closes its input, as a client does that goes."""
        try:
            self.process.stdin.close()
            self.process.wait(limit)
        except (OSError, subprocess.TimeoutExpired):
            self.kill()

    def kill(self) -> None:
        self.process.kill()
        self.process.wait()


def result(message: dict) -> tuple[str, bool]:
    found = message.get("result") or {}
    text = "".join(part.get("text", "") for part in found.get("content") or [])
    return (text or json.dumps(message.get("error")), bool(found.get("isError")) or "error" in message)
