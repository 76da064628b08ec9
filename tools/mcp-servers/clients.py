"""Real clients, as `.ci/clients` installs them: how each is configured with MCP servers, and how it is asked something.

The arguments and variables are those of the tests in `crates/weir/tests/it/e2e`.
"""

import dataclasses
import json
import typing

OPENCODE_MODEL = {"name": "Scripted", "tool_call": True, "limit": {"context": 200_000, "output": 8_000}}
CODEX = """model = "{model}"
model_provider = "scripted"
approval_policy = "never"
sandbox_mode = "danger-full-access"
check_for_update_on_startup = false

[analytics]
enabled = false

[model_providers.scripted]
name = "scripted"
wire_api = "responses"
request_max_retries = 0
stream_max_retries = 0
"""


@dataclasses.dataclass
class Client:
    """A client. `files` returns its settings, by their path below the home folder, for servers by their names."""

    name: str
    files: typing.Callable
    arguments: list
    environment: list
    # How it names a tool of a server for its model, or None if the scripted model does that.
    tool: typing.Callable = None


def usual(servers):
    return {
        name: {"command": command[0], "args": command[1:], "env": variables}
        for name, (command, variables) in servers.items()
    }


def claude(servers):
    entries = {name: {"type": "stdio", **entry} for name, entry in usual(servers).items()}
    return {".claude.json": pretty({"mcpServers": entries}), ".claude/settings.json": pretty({})}


def codex(model):
    def files(servers):
        text = CODEX.format(model=model)
        for name, (command, variables) in servers.items():
            # A JSON string is one of TOML, too. Codex does not wait for a server that is not required.
            text += f"\n[mcp_servers.{name}]\ncommand = {json.dumps(command[0])}\nargs = {json.dumps(command[1:])}\n"
            text += "required = true\nstartup_timeout_sec = 60\n"
            if variables:
                pairs = ", ".join(f"{key} = {json.dumps(value)}" for key, value in variables.items())
                text += f"env = {{ {pairs} }}\n"
        return {".codex/config.toml": text}

    return files


def gemini(servers):
    settings = {
        "security": {"auth": {"selectedType": "gemini-api-key"}},
        "general": {"enableAutoUpdate": False},
        "privacy": {"usageStatisticsEnabled": False},
        "mcpServers": usual(servers),
    }
    return {".gemini/settings.json": pretty(settings)}


def qwen(servers):
    settings = {
        "security": {"auth": {"selectedType": "openai"}},
        "general": {"enableAutoUpdate": False},
        "privacy": {"usageStatisticsEnabled": False},
        "memory": {"enableManagedAutoMemory": False, "enableManagedAutoDream": False},
        "mcpServers": usual(servers),
    }
    return {".qwen/settings.json": pretty(settings)}


def copilot(servers):
    entries = {name: {"type": "local", **entry, "tools": ["*"]} for name, entry in usual(servers).items()}
    return {".copilot/mcp-config.json": pretty({"mcpServers": entries})}


def opencode(servers):
    provider = {
        "npm": "@ai-sdk/openai-compatible",
        "options": {"baseURL": "{env:MODEL_URL}", "apiKey": "made-up"},
        "models": {"scripted-1": OPENCODE_MODEL},
    }
    entries = {
        name: {"type": "local", "command": command, "enabled": True, "environment": variables}
        for name, (command, variables) in servers.items()
    }
    settings = {
        "model": "scripted/scripted-1",
        "small_model": "scripted/scripted-1",
        "autoupdate": False,
        "share": "disabled",
        "permission": "allow",
        "provider": {"scripted": provider},
        "mcp": entries,
    }
    # The client would fetch this package for any plugin, and waits long for the missing network.
    locked = {"packages": {"": {"dependencies": {"@opencode-ai/plugin": "1.18.33"}}}}
    return {
        ".config/opencode/opencode.json": pretty(settings),
        ".config/opencode/package-lock.json": pretty(locked),
        ".config/opencode/node_modules/.keep": "",
    }


def pretty(settings):
    return json.dumps(settings, indent=2) + "\n"


CODEX_ARGUMENTS = [
    "exec",
    "--json",
    "--skip-git-repo-check",
    "--disable=plugins",
    "--dangerously-bypass-hook-trust",
    '--config=model_providers.scripted.base_url="http://127.0.0.1:{PORT}/v1"',
]
CLIENTS = {
    "gemini": Client(
        "gemini",
        gemini,
        ["--approval-mode=yolo", "--model=gemini-2.5-pro", "--prompt"],
        [
            "GEMINI_API_KEY=made-up",
            "GOOGLE_GEMINI_BASE_URL=http://127.0.0.1:{PORT}",
            "GEMINI_CLI_TRUST_WORKSPACE=true",
        ],
        "mcp_{}_{}".format,
    ),
    "opencode": Client(
        "opencode",
        opencode,
        ["run"],
        [
            "MODEL_URL=http://127.0.0.1:{PORT}/v1",
            "OPENCODE_DISABLE_AUTOUPDATE=1",
            "OPENCODE_DISABLE_MODELS_FETCH=1",
            "OPENCODE_DISABLE_LSP_DOWNLOAD=1",
        ],
        "{}_{}".format,
    ),
    "copilot": Client(
        "copilot",
        copilot,
        ["--prompt"],
        [
            "COPILOT_OFFLINE=true",
            "COPILOT_PROVIDER_BASE_URL=http://127.0.0.1:{PORT}/v1",
            "COPILOT_PROVIDER_API_KEY=made-up",
            "COPILOT_MODEL=scripted-1",
            "COPILOT_AUTO_UPDATE=false",
            # This exact value also makes the client trust the folder.
            "COPILOT_ALLOW_ALL=true",
        ],
        "{}-{}".format,
    ),
    "claude": Client(
        "claude",
        claude,
        ["--output-format=json", "--dangerously-skip-permissions", "--print"],
        [
            "ANTHROPIC_BASE_URL=http://127.0.0.1:{PORT}",
            "ANTHROPIC_API_KEY=made-up",
            "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1",
            "DISABLE_AUTOUPDATER=1",
            "IS_SANDBOX=1",
        ],
    ),
    "codex": Client("codex", codex("scripted-1"), CODEX_ARGUMENTS, []),
    "codex gpt-5.5": Client("codex", codex("gpt-5.5"), CODEX_ARGUMENTS, []),
    "codex gpt-6-sol": Client("codex", codex("gpt-6-sol"), CODEX_ARGUMENTS, []),
    "qwen": Client(
        "qwen",
        qwen,
        ["--yolo", "--prompt"],
        ["OPENAI_API_KEY=made-up", "OPENAI_BASE_URL=http://127.0.0.1:{PORT}/v1", "OPENAI_MODEL=scripted-1"],
        "mcp__{}__{}".format,
    ),
}
