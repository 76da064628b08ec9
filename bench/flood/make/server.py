"""A client of MCP servers that gives the text of an answer as a model would get it."""
import json
import os
import subprocess


class Server:
    """A server that has answered `initialize`; it ends with the `with` block."""

    def __init__(self, command, folder="/", **environment):
        self.process = subprocess.Popen(
            command, cwd=folder, env={**os.environ, **environment}, text=True, encoding="utf-8",
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        self.calls = 0
        client = {"name": "make", "version": "0"}
        self.ask("initialize", {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": client})
        self.send({"method": "notifications/initialized"})

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.stdin.close()
        try:
            self.process.wait(10)
        except subprocess.TimeoutExpired:
            self.process.kill()

    def send(self, message):
        self.process.stdin.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
        self.process.stdin.flush()

    def ask(self, method, params):
        self.calls += 1
        self.send({"id": self.calls, "method": method, "params": params})
        for line in self.process.stdout:
            answer = json.loads(line) if line.startswith("{") else {}
            if answer.get("method") and "id" in answer:
                result = {"roots": []} if answer["method"] == "roots/list" else {}
                self.send({"id": answer["id"], "result": result})
            elif answer.get("id") == self.calls:
                if "error" in answer:
                    raise RuntimeError(answer["error"])
                return answer["result"]
        raise RuntimeError(f"the server ended during {method}")

    def tools(self):
        return self.ask("tools/list", {})["tools"]

    def call(self, tool, **arguments):
        """The text parts of a tool's answer."""
        result = self.ask("tools/call", {"name": tool, "arguments": arguments})
        return "\n".join(part["text"] for part in result["content"] if part["type"] == "text")
