"""Builds a bundle for Claude Desktop (MCPB): a zip of a manifest and the program, which it installs with one click.

One bundle per processor: a manifest can name a program per system, not per processor. Claude Desktop starts servers
outside of any project, so it asks for the folder, which becomes an argument of the program.
"""

import json

import zips
from npm import SYSTEMS
from project import AUTHORS, KEYWORDS, LICENCE, LICENCES, NOTICES, PACKAGING, ROOT, SUMMARY, repository, version

MANIFEST_VERSION = "0.3"


def build(out, program, notices):
    """Returns the path of the bundle."""
    files = [
        ("manifest.json", (json.dumps(_manifest(program), indent=2) + "\n").encode(), 0o644),
        (f"server/{program.file_name}", program.path.read_bytes(), 0o755),
        ("README.md", (PACKAGING / "README.md").read_bytes(), 0o644),
        *((name, (ROOT / name).read_bytes(), 0o644) for name in LICENCES),
        (NOTICES, notices.encode(), 0o644),
    ]
    return zips.write(out / f"weir-{version()}-{program.target}.mcpb", files)


def _manifest(program):
    place = f"server/{program.file_name}"
    started = {"command": f"${{__dirname}}/{place}", "args": ["-C", "${user_config.folder}", "mcp"], "env": {}}
    folder = {"type": "directory", "title": "Project", "description": "The folder of the project to work in"}
    manifest = {
        "manifest_version": MANIFEST_VERSION,
        "name": "weir",
        "display_name": "Weir",
        "version": version(),
        "description": SUMMARY,
        "author": {"name": AUTHORS},
        "license": LICENCE,
        "keywords": KEYWORDS,
        "server": {"type": "binary", "entry_point": place, "mcp_config": started},
        # The program has more tools the more is set up, so a list would be wrong for some.
        "tools_generated": True,
        "user_config": {"folder": folder | {"required": True}},
        "compatibility": {"platforms": [SYSTEMS[program.system]]},
    }
    return manifest | ({"repository": {"type": "git", "url": repository()}} if repository() else {})
