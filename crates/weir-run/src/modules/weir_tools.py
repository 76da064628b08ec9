"""Tools of other MCP servers: `from weir_tools import github; github.list_issues(owner="o", repo="r")`."""

import json
import subprocess


class ToolError(Exception):
    """A call that failed, with what the server said."""


def call(server, tool, **arguments):
    """Calls a tool, and returns its answer: parsed if it is JSON, otherwise as text."""
    words = ["weir", "call", server, tool, json.dumps(arguments)]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise ToolError((done.stderr or done.stdout).strip())
    try:
        return json.loads(done.stdout)
    except ValueError:
        return done.stdout


class Server:
    """The tools of a server, as functions."""

    def __init__(self, name):
        self._name = name

    def __getattr__(self, tool):
        if tool.startswith("_"):
            raise AttributeError(tool)
        return lambda **arguments: call(self._name, tool, **arguments)

    def __getitem__(self, tool):
        return lambda **arguments: call(self._name, tool, **arguments)


def __getattr__(name):
    if name.startswith("_"):
        raise AttributeError(name)
    return Server(name)
