"""Writes `server.json`, by which the MCP registry lists the server, and the name that the npm package must repeat.

The registry proves who owns a name by the repository or the domain in it, so the name follows from WEIR_REPOSITORY;
without that, there is neither. Only the npm package is listed. Clients start a wheel by the name of its package, and the
program of ours is called `weir`; of bundles for Claude Desktop, the registry cannot say which processor they are for.
"""

import json
import urllib.parse

from project import NAME, SUMMARY, die, repository, version

# The form of the file. The registry refuses other forms than those that it has published.
SCHEMA = "https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json"
FORGES = {"github.com": "github", "gitlab.com": "gitlab"}
MAX_DESCRIPTION = 100


def name():
    """The name in the registry, such as `io.github.OWNER/weir-cli`, or None."""
    if not repository():
        return None
    address = urllib.parse.urlsplit(repository())
    owner = address.path.strip("/").partition("/")[0]
    if address.hostname == "github.com" and owner:
        return f"io.github.{owner}/{NAME}"
    if not address.hostname or "." not in address.hostname:
        return die(f"cannot name the server for the MCP registry: {repository()} has no domain")
    return f"{'.'.join(reversed(address.hostname.split('.')))}/{NAME}"


def server():
    """The text of `server.json`, which needs a repository."""
    if len(SUMMARY) > MAX_DESCRIPTION:
        die(f"the MCP registry takes descriptions of up to {MAX_DESCRIPTION} characters", "shorten SUMMARY")
    fields = {"$schema": SCHEMA, "name": name(), "title": "Weir", "description": SUMMARY, "version": version()}
    forge = FORGES.get(urllib.parse.urlsplit(repository()).hostname)
    if forge:
        fields["repository"] = {"url": repository(), "source": forge}
    package = {"registryType": "npm", "identifier": NAME, "version": version(), "runtimeHint": "npx"}
    package |= {"packageArguments": [{"type": "positional", "value": "mcp"}], "transport": {"type": "stdio"}}
    return json.dumps(fields | {"packages": [package]}, indent=2) + "\n"
