#!/usr/bin/env python3
"""Counts what MCP servers add to the first request of real clients, with and without Weir's gateway.

  tools/mcp-servers/first_request.py FOLDER WEIR [--clients BIN] [--servers A,B…] [--client NAME]… [--way NAME]…

FOLDER is where `tools/mcp-servers/lists` has installed the servers, WEIR the program, in a file of that name, and BIN the
folder in which `WEIR_ALL_CLIENTS=1 .ci/clients` puts the clients' commands. Each client runs without a network against
the scripted model: bare, with Weir alone, with the servers in its own settings, and after `weir setup CLIENT --gateway`.
Printed are the tokens (o200k) of the tools of the first request, as it was sent, and of the whole request; and whether
`weir teardown CLIENT` gave every settings file back byte for byte, at once and after the client had run.

In the last two ways, the model calls one tool, directly and as a model that has to find it first.
"""

import argparse
import dataclasses
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import tomllib
import typing

import clients
import servers
from tokens import count

RUNNER = pathlib.Path(__file__).resolve().parents[2] / "crates/weir/tests/e2e/run_client.py"
EIGHT = "everything,filesystem,memory,playwright,postgres,git,fetch,sqlite"
# What clients ask the model besides the conversation.
TITLE = {"name": "title", "when": {"last": "Generate a title"}, "reply": {"text": "Title"}}
END = {"text": "END"}
# The clients in which a server behind Weir keeps its name.
OWN_NAMES = ["claude", "codex", "qwen"]
TOOL, WANTED = ("git", "git_status"), "status of the working tree of a git repository"


def end(*_):
    return [END]


@dataclasses.dataclass
class Run:
    """One way to run a client: its servers, what is set up, and what the model says."""

    name: str
    servers: dict
    setup: list = ()
    steps: typing.Callable = end


class Place:
    """A home and a project for one client."""

    def __init__(self, client, weir):
        self.client, self.weir = client, weir
        self.run = pathlib.Path(tempfile.mkdtemp(prefix="first-request-"))
        self.home, self.project = self.run / "home", self.run / "project"
        self.home.mkdir()
        subprocess.run(["git", "init", "--quiet", str(self.project)], check=True)

    def configure(self, entries):
        for name, text in self.client.files(entries).items():
            path = self.home / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)

    def set_up(self, *words):
        environment = {"HOME": str(self.home), "PATH": "/usr/bin:/bin"}
        subprocess.run([self.weir, *words, "--yes"], cwd=self.project, env=environment, check=True, capture_output=True)

    def files(self):
        """Returns the client's settings, by path."""
        names = self.client.files({})
        return {name: (self.home / name).read_bytes() for name in names if (self.home / name).exists()}

    def ask(self, options, steps):
        """Runs the client, and returns the requests of its conversation."""
        scenario, log = self.run / "scenario.json", self.run / "requests.jsonl"
        scenario.write_text(json.dumps({"rules": [TITLE], "steps": steps}))
        log.unlink(missing_ok=True)
        words = [word for pair in self.client.environment for word in ("--env", pair)]
        program = str(pathlib.Path(options.clients).expanduser().absolute() / self.client.name)
        command = [sys.executable, str(RUNNER), "--timeout=600", "--run", str(self.run), "--cwd", str(self.project)]
        command += ["--scenario", str(scenario), *words, "--", program, *self.client.arguments, "Do it"]
        subprocess.run(command, check=True)
        lines = log.read_text().splitlines() if log.exists() else []
        asked = [one for one in map(json.loads, lines) if one["why"].startswith(("step:", "end"))]
        failures = json.loads((self.run / "summary.json").read_text())["failures"]
        if len(asked) != len(steps) or failures:
            said = (self.run / "stdout").read_text()[-600:] + (self.run / "stderr").read_text()[-600:]
            sys.exit(f"error: {self.client.name} asked {len(asked)} times for {len(steps)} steps: {failures}\n{said}")
        return [one["body"] for one in asked]

    def remove(self):
        shutil.rmtree(self.run, ignore_errors=True)


def tools(body):
    """Returns the tools that a request declares."""
    listed = body.get("tools") or []
    # Gemini's are in one list, and Codex puts those of a server into one.
    return [tool for one in listed for tool in one.get("functionDeclarations") or one.get("tools") or [one]]


def servers_in(path, text):
    """Returns the servers in a client's settings."""
    settings = tomllib.loads(text.decode()) if path.endswith(".toml") else json.loads(text)
    return [settings.get(key) or {} for key in ("mcpServers", "mcp_servers", "mcp")]


def about(name, bodies):
    """Returns what the requests of one run cost."""
    declared = bodies[0].get("tools") or []
    return {
        "run": name,
        "tools": len(tools(bodies[0])),
        "tool_tokens": count(declared),
        "first_request": count(bodies[0]),
        "requests": len(bodies),
        "added": count(bodies[-1]) - count(bodies[0]),
        "sent": sum(count(body) for body in bodies),
    }


def entries(folder, names):
    """Returns how each server is started: its words and its variables."""
    known = {name: servers.find(name) for name in names}
    program = {name: str(servers.installed(name, folder)) for name in names}
    return {name: ([program[name], *server.arguments], server.environment) for name, server in known.items()}


def direct_steps(client, project):
    server, tool = TOOL
    arguments = {"repo_path": str(project)}
    named = {"name": client.tool(server, tool)} if client.tool else {"server": server, "name": tool}
    return [{"tools": [{**named, "args": arguments}]}, END]


def gateway_steps(client, project):
    """Has the model find the tool first, where the client does not know it by its own name."""
    if client.name in OWN_NAMES:
        return direct_steps(client, project)
    server, tool = TOOL

    def weir(name):
        return {"name": client.tool("weir", name)}

    arguments = {"server": server, "tool": tool, "arguments": {"repo_path": str(project)}}
    return [
        {"tools": [{**weir("ctx_tools"), "args": {"query": WANTED}}]},
        {"expect": f"{server}/{tool}", "tools": [{**weir("ctx_call_read"), "args": arguments}]},
        {"expect": "On branch", **END},
    ]


def measure(name, wanted, options):
    """Runs one client in every way, and yields a row for each."""
    client = clients.CLIENTS[name]
    gateway = [client.name, "--gateway"]
    runs = [
        Run("bare", {}),
        Run("Weir alone", {}, [client.name]),
        Run("servers", wanted),
        Run("gateway", wanted, gateway),
        Run("servers, a call", wanted, steps=direct_steps),
        Run("gateway, a call", wanted, gateway, gateway_steps),
    ]
    for run in runs:
        if not options.way or run.name in options.way:
            yield in_place(options, client, run)


def in_place(options, client, run):
    """Runs a client in a new home, and takes back what setup wrote."""
    place = Place(client, options.weir)
    try:
        place.configure(run.servers)
        before = place.files()
        if run.setup:
            place.set_up("setup", *run.setup)
            place.set_up("teardown", client.name)
            restored = before == place.files()
            place.set_up("setup", *run.setup)
        row = about(run.name, place.ask(options, run.steps(client, place.project)))
        if run.setup:
            place.set_up("teardown", client.name)
            after = place.files()
            # Clients write to their own settings while they run; their servers have to be as they were.
            changed = [path for path in before if before[path] != after.get(path)]
            back = all(servers_in(path, before[path]) == servers_in(path, after[path]) for path in changed)
            row.update(restored=restored, changed_by_client=changed, servers_back=back)
        return row
    finally:
        place.remove()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder")
    parser.add_argument("weir", type=os.path.abspath)
    parser.add_argument("--clients", default="~/.cache/weir-ci/clients/bin")
    parser.add_argument("--servers", default=EIGHT)
    parser.add_argument("--client", action="append", choices=clients.CLIENTS)
    parser.add_argument("--way", action="append", help="only this way: the name of a row")
    options = parser.parse_args()
    wanted = entries(options.folder, options.servers.split(","))
    for name in options.client or ["gemini", "opencode", "copilot", "claude", "codex", "qwen"]:
        for row in measure(name, wanted, options):
            print(json.dumps({"client": name, **row}), flush=True)


if __name__ == "__main__":
    main()
