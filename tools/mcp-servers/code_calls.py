#!/usr/bin/env python3
"""Does ten tasks with real MCP servers by single calls and by scripts, and counts what enters the model's window.

  tools/mcp-servers/code_calls.py FOLDER WEIR POSTGRES

FOLDER is where `tools/mcp-servers/lists` has installed the servers, WEIR the program, and POSTGRES the address of an empty
database, which is overwritten. A page's server, the databases and everything else are made by `world.py`, anew for each
way; `tasks.py` has the tasks. Each is done by a program that stands for a model:

  raw      a call for each step; the window gets what the servers answer
  digests  the same calls; the window gets what Weir makes of the answers
  script   one `ctx_execute`, whose code calls the tools, after `ctx_tools` has found them

Tokens (o200k) are those of the calls and of the texts of the results. Requests are those to the model, with the last one,
which answers. A turn's calls are made at once. Both `raw` and `script` have to reach the same answer.
"""

import argparse
import json
import os
import pathlib
import subprocess
import sys
import tempfile

import servers
import tasks
import world
from tokens import count

# What the user has allowed scripts to do.
ALLOWED = [
    ("filesystem", "write_file"),
    ("memory", "create_relations"),
    ("playwright", "browser_navigate"),
    # These servers do not say which of their tools only read.
    ("sqlite", "*"),
    ("postgres", "*"),
]


class Place:
    """A world and a home, with the servers that reach both."""

    def __init__(self, folder, postgres):
        self.kept = tempfile.TemporaryDirectory(prefix="code-calls-")
        self.folder = pathlib.Path(self.kept.name)
        at = self.folder / "world"
        at.mkdir()
        self.at = {"files": f"{at}/files", "repository": f"{at}/repository", "pages": world.make(at, postgres)}
        chromium = ["--headless", "--isolated", "--no-sandbox", "--executable-path=/usr/bin/chromium"]
        own = {
            "filesystem": ([self.at["files"]], {}),
            "memory": ([], {"MEMORY_FILE_PATH": f"{at}/graph.json"}),
            "playwright": (chromium, {}),
            "postgres": (["--access-mode=unrestricted", postgres], {}),
            "git": (["--repository", self.at["repository"]], {}),
            "sqlite": (["--db-path", f"{at}/shop.db"], {}),
        }
        self.servers = {
            name: ([str(servers.installed(name, folder)), *arguments], variables)
            for name, (arguments, variables) in own.items()
        }
        self.environment = {"HOME": str(self.folder / "home"), "PATH": os.environ["PATH"]}
        (self.folder / "home").mkdir()
        self.sessions = {}

    def put_behind(self, weir):
        """Puts all servers behind Weir, as its user does."""
        for name, (command, variables) in self.servers.items():
            pairs = [word for key, value in variables.items() for word in ("--env", f"{key}={value}")]
            self.run(weir, "servers", "add", name, *pairs, "--", *command)
        for server, tool in ALLOWED:
            self.run(weir, "servers", "allow", server, tool)

    def run(self, *command):
        subprocess.run(command, cwd=self.folder / "world", env=self.environment, check=True, capture_output=True)

    def session(self, name, command=None, variables=None):
        if name not in self.sessions:
            command, variables = (command, {}) if command else self.servers[name]
            session = servers.Session(command, self.folder / "world", {**self.environment, **variables})
            session.greet({})
            self.sessions[name] = session
        return self.sessions[name]

    def end(self):
        for session in self.sessions.values():
            session.end()
        self.kept.cleanup()


def said(result, of):
    """Returns the text of a result, which must not be an error."""
    text = "\n".join(block.get("text", "") for block in result["content"])
    if result.get("isError"):
        sys.exit(f"error: {of}: {text[:2000]}")
    return text


class Window:
    """What a model has been sent, and has sent, since the task began."""

    def __init__(self):
        self.tokens, self.requests = 0, 1

    def turn(self, calls, texts):
        self.requests += 1
        self.tokens += sum(map(count, calls)) + sum(map(count, texts))


def by_calls(task, place, call, answers=None):
    """Does a task by single calls. With `answers`, the model goes on as if it had been told those."""
    window, told = Window(), []
    model = task.by_calls(place.at)
    calls, turn = next(model), 0
    while True:
        texts = [call(*one) for one in calls]
        window.turn([{"name": f"{server}_{tool}", "arguments": arguments} for server, tool, arguments in calls], texts)
        told.append(texts)
        try:
            calls = model.send(answers[turn] if answers else texts)
        except StopIteration as end:
            return window, end.value, told
        turn += 1


def by_script(task, place, weir):
    """Does a task by one script, and returns the windows with and without finding the tools, and what was printed."""
    session, found, alone = place.session("weir", [weir, "mcp"]), Window(), Window()
    for server, query in task.wanted.items():
        arguments = {"query": query, "server": server}
        text = said(session.call_tool("ctx_tools", arguments), task.name)
        found.turn([{"name": "ctx_tools", "arguments": arguments}], [text])
    code = task.script.strip()
    for name, value in place.at.items():
        code = code.replace(f"{{{name}}}", value)
    arguments = {"language": "python", "code": code}
    text = said(session.call_tool("ctx_execute", arguments), task.name)
    for window in (found, alone):
        window.turn([{"name": "ctx_execute", "arguments": arguments}], [text])
    return found, alone, text


def each(options, way):
    """Makes a new world, and does every task in it."""
    place = Place(options.folder, options.postgres)
    try:
        if way != "raw":
            place.put_behind(options.weir)
        for task in tasks.TASKS:
            yield task, place
    finally:
        place.end()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder")
    parser.add_argument("weir", type=os.path.abspath)
    parser.add_argument("postgres")
    options = parser.parse_args()
    rows = {task.name: {"task": task.name} for task in tasks.TASKS}
    answers, told = {}, {}

    def note(task, way, window):
        rows[task.name].update({f"{way}_tokens": window.tokens, f"{way}_requests": window.requests})

    for task, place in each(options, "raw"):

        def call(server, tool, given, place=place):
            return said(place.session(server).call_tool(tool, given), f"{server}/{tool}")

        window, answers[task.name], told[task.name] = by_calls(task, place, call)
        note(task, "raw", window)
    for task, place in each(options, "digests"):

        def call(server, tool, given, place=place):
            arguments = {"server": server, "tool": tool, "arguments": given}
            session = place.session("weir", [options.weir, "mcp"])
            return said(session.call_tool("ctx_call_destructive", arguments), f"{server}/{tool}")

        # What a digest leaves out, the model would have to ask for; here it knows.
        window, _, _ = by_calls(task, place, call, told[task.name])
        note(task, "digests", window)
    for task, place in each(options, "script"):
        found, alone, printed = by_script(task, place, options.weir)
        note(task, "found_script", found)
        note(task, "script", alone)
        rows[task.name].update(answer=answers[task.name], same=answers[task.name] in printed, printed=printed)
    for row in rows.values():
        print(json.dumps(row))
    sys.exit(0 if all(row["same"] for row in rows.values()) else 1)


if __name__ == "__main__":
    main()
