"""MCP servers from npm and PyPI: how each is installed and started, and a client that speaks to one.

None of them needs an account or a network to start; what they want as a credential is made up. The packages from PyPI get
the interpreter that runs this program; postgres-mcp needs Python 3.12 or newer.
"""

import dataclasses
import json
import os
import pathlib
import queue
import subprocess
import sys
import threading

SECONDS_TO_INSTALL = 900
SECONDS_TO_ANSWER = 90


@dataclasses.dataclass
class Server:
    """A package, and how its program is started."""

    package: str
    version: str
    program: str
    arguments: list = dataclasses.field(default_factory=list)
    environment: dict = dataclasses.field(default_factory=dict)
    # Repairs of a package from PyPI: what is installed over what it asks for, without asking it.
    repairs: list = dataclasses.field(default_factory=list)


NPM = {
    # The eight servers of the held-out requests, with git and postgres below.
    "playwright": Server("@playwright/mcp", "0.0.83", "playwright-mcp", ["--headless", "--isolated"]),
    "filesystem": Server("@modelcontextprotocol/server-filesystem", "2026.8.31", "mcp-server-filesystem", ["."]),
    "notion": Server(
        "@notionhq/notion-mcp-server", "2.5.2", "notion-mcp-server", [], {"NOTION_TOKEN": "ntn_not_a_real_token"}
    ),
    "sentry": Server(
        "@sentry/mcp-server",
        "0.36.0",
        "sentry-mcp",
        ["--access-token=not-a-real-token", "--host=sentry.example"],
        {"OPENAI_API_KEY": "not-a-real-key"},
    ),
    "github": Server(
        "@modelcontextprotocol/server-github",
        "2025.4.8",
        "mcp-server-github",
        [],
        {"GITHUB_PERSONAL_ACCESS_TOKEN": "not-a-real-token"},
    ),
    "context7": Server("@upstash/context7-mcp", "4.1.1", "context7-mcp"),
    # The servers of the requests for development.
    "everything": Server("@modelcontextprotocol/server-everything", "2026.8.31", "mcp-server-everything"),
    "memory": Server("@modelcontextprotocol/server-memory", "2026.8.31", "mcp-server-memory"),
    "chrome-devtools": Server("chrome-devtools-mcp", "1.11.0", "chrome-devtools-mcp", ["--headless"]),
    "mongodb": Server(
        "mongodb-mcp-server",
        "3.0.4",
        "mongodb-mcp-server",
        [],
        {
            "MDB_MCP_CONNECTION_STRING": "mongodb://127.0.0.1:1/none",
            "MDB_MCP_API_CLIENT_ID": "not-real",
            "MDB_MCP_API_CLIENT_SECRET": "not-real",
            "MDB_MCP_TELEMETRY": "disabled",
        },
    ),
    "firecrawl": Server("firecrawl-mcp", "3.26.0", "firecrawl-mcp", [], {"FIRECRAWL_API_KEY": "fc-not-real"}),
    "azure": Server("@azure/mcp", "2.0.5", "azmcp", ["server", "start"], {"AZURE_MCP_COLLECT_TELEMETRY": "false"}),
    "slack": Server(
        "@modelcontextprotocol/server-slack",
        "2025.4.25",
        "mcp-server-slack",
        [],
        {"SLACK_BOT_TOKEN": "xoxb-not-real", "SLACK_TEAM_ID": "T0000000"},
    ),
    "brave": Server(
        "@brave/brave-search-mcp-server",
        "2.1.4",
        "brave-search-mcp-server",
        ["--transport", "stdio"],
        {"BRAVE_API_KEY": "not-real"},
    ),
    "tavily": Server("tavily-mcp", "0.2.22", "tavily-mcp", [], {"TAVILY_API_KEY": "tvly-not-real"}),
    "figma": Server("figma-developer-mcp", "0.13.2", "figma-developer-mcp", ["--stdio", "--figma-api-key=not-real"]),
}

PYPI = {
    "git": Server("mcp-server-git", "2026.10.19", "mcp-server-git"),
    # Written for the Python SDK 1.x, and pinned to a pglast that no longer installs.
    "postgres": Server(
        "postgres-mcp",
        "0.3.0",
        "postgres-mcp",
        ["postgresql://nobody@127.0.0.1:1/none"],
        repairs=["mcp[cli]<2", "pglast==7.20", "psycopg[binary]", "psycopg-pool", "humanize", "attrs", "instructor"],
    ),
    "sqlite": Server(
        "mcp-server-sqlite", "2025.4.25", "mcp-server-sqlite", ["--db-path", "none.db"], repairs=["mcp<2"]
    ),
    "atlassian": Server(
        "mcp-atlassian",
        "0.23.1",
        "mcp-atlassian",
        [],
        {
            "JIRA_URL": "https://jira.example",
            "JIRA_PERSONAL_TOKEN": "not-real",
            "CONFLUENCE_URL": "https://wiki.example",
            "CONFLUENCE_PERSONAL_TOKEN": "not-real",
        },
    ),
    "aws-documentation": Server(
        "awslabs.aws-documentation-mcp-server", "1.2.3", "awslabs.aws-documentation-mcp-server"
    ),
    "fetch": Server("mcp-server-fetch", "2026.10.24", "mcp-server-fetch"),
    "time": Server("mcp-server-time", "2026.10.19", "mcp-server-time"),
    "duckduckgo": Server("duckduckgo-mcp-server", "0.7.0", "duckduckgo-mcp-server"),
}

# Nothing but the server is downloaded.
NO_BROWSERS = {"PUPPETEER_SKIP_DOWNLOAD": "1", "PLAYWRIGHT_SKIP_BROWSER_DOWNLOAD": "1"}


def install_from_npm(server, folder):
    """Installs a package in a folder of its own, and returns the path of its program."""
    program = folder / "node_modules" / ".bin" / server.program
    if not program.exists():
        (folder / "package.json").write_text("{}\n")
        quietly(
            ["npm", "install", "--no-audit", "--no-fund", f"{server.package}@{server.version}"],
            folder,
            os.environ | NO_BROWSERS,
        )
    return program


def install_from_pypi(server, folder):
    """Installs a package in an environment of its own, and returns the path of its program."""
    program = folder / "venv" / "bin" / server.program
    if not program.exists():
        pip = [str(folder / "venv" / "bin" / "python"), "-m", "pip", "install", "--quiet"]
        quietly([sys.executable, "-m", "venv", "venv"], folder, os.environ)
        if server.repairs:
            quietly([*pip, *server.repairs], folder, os.environ)
            quietly([*pip, "--no-deps", f"{server.package}=={server.version}"], folder, os.environ)
        else:
            quietly([*pip, f"{server.package}=={server.version}"], folder, os.environ)
    return program


def quietly(command, folder, environment):
    """Runs a command, and fails with the end of what it printed."""
    done = subprocess.run(
        command,
        cwd=folder,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        timeout=SECONDS_TO_INSTALL,
        check=False,
    )
    if done.returncode != 0:
        raise RuntimeError(f"{command[0]} failed: {done.stdout.decode(errors='replace')[-500:]}")


class Session:
    """A conversation with a server over its standard streams."""

    def __init__(self, command, folder, environment):
        self.process = subprocess.Popen(
            command,
            cwd=folder,
            env=environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        self.lines = queue.Queue()
        self.last_id = 0
        threading.Thread(target=self.read, daemon=True).start()

    def read(self):
        for line in self.process.stdout:
            self.lines.put(line)
        self.lines.put(None)

    def send(self, message):
        self.process.stdin.write(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")
        self.process.stdin.flush()

    def call(self, method, params):
        """Sends a request and returns its result. Requests of the server meanwhile get an empty answer."""
        self.last_id += 1
        self.send({"id": self.last_id, "method": method, "params": params})
        while True:
            line = self.lines.get(timeout=SECONDS_TO_ANSWER)
            if line is None:
                raise RuntimeError(f"it ended before it answered {method}")
            try:
                message = json.loads(line)
            except ValueError:
                continue
            if "method" in message and "id" in message:
                self.send({"id": message["id"], "result": {"roots": []} if "roots" in message["method"] else {}})
            elif message.get("id") == self.last_id:
                if "error" in message:
                    raise RuntimeError(f"{method}: {message['error'].get('message')}")
                return message["result"]

    def end(self):
        self.process.stdin.close()
        try:
            self.process.wait(timeout=3)
        except subprocess.TimeoutExpired:
            pass
        try:
            os.killpg(self.process.pid, 9)
        except ProcessLookupError:
            pass
        self.process.wait()

    def greet(self, capabilities):
        """Begins the conversation as a client with these capabilities."""
        about = {"name": "lists", "version": "1"}
        self.call("initialize", {"protocolVersion": "2025-06-18", "capabilities": capabilities, "clientInfo": about})
        self.send({"method": "notifications/initialized"})

    def tools(self):
        """Returns all pages of the server's tools."""
        tools, cursor = [], None
        while True:
            page = self.call("tools/list", {"cursor": cursor} if cursor else {})
            tools += page["tools"]
            cursor = page.get("nextCursor")
            if not cursor:
                return tools

    def call_tool(self, name, arguments):
        """Returns the result of a call."""
        return self.call("tools/call", {"name": name, "arguments": arguments})


def find(name):
    """Returns a server by its name."""
    known = NPM | PYPI
    if name not in known:
        sys.exit(f"error: unknown server {name}\nhint: one of {', '.join(known)}")
    return known[name]


def installed(name, folder):
    """Installs a server below a folder, unless it is there already. Returns the path of its program."""
    install = install_from_npm if name in NPM else install_from_pypi
    place = pathlib.Path(folder).resolve() / "servers" / name
    place.mkdir(parents=True, exist_ok=True)
    return install(find(name), place)
