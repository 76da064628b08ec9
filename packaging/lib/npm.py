"""Builds the npm packages: one per platform with the program, and the main one with a shim that starts it.

The main package names the others as optional dependencies, so npm installs the one that fits. No package has a script
that runs at installation. Clients are set up with the program itself, never with the shim.
"""

import json
import pathlib
import subprocess
import tempfile

import mcp_registry
import tree
from project import AUTHORS, KEYWORDS, LICENCE, LICENCES, MARKER, NAME, NOTICES, PACKAGING, ROOT, SUMMARY
from project import die, epoch, repository, version

SYSTEMS = {"linux": "linux", "macos": "darwin", "windows": "win32"}
MACHINES = {"x86_64": "x64", "aarch64": "arm64"}


def platform(program):
    """The platform as node names it, and as the shim looks for it."""
    return f"{SYSTEMS[program.system]}-{MACHINES[program.machine]}"


def build_platform(out, program, notices):
    """Returns the path of the package with the program."""
    name = f"{NAME}-{platform(program)}"
    fields = {"os": [SYSTEMS[program.system]], "cpu": [MACHINES[program.machine]]}
    if program.system == "linux" and not program.is_static:
        fields["libc"] = ["glibc"]
    manifest = _manifest(name, f"The program of {NAME} for {platform(program)}") | fields
    # The marker names the main package, which is the one that people install.
    files = {
        f"bin/{program.file_name}": (program.path.read_bytes(), 0o755),
        f"bin/{MARKER}": (f"npm {NAME}\n".encode(), 0o644),
        NOTICES: (notices.encode(), 0o644),
        "README.md": (f"The program of `{NAME}` for {platform(program)}. Install `{NAME}`.\n".encode(), 0o644),
    }
    return _pack(out, manifest | {"preferUnplugged": True}, files)


def build_main(out, platforms):
    """Returns the path of the package that people install. It depends on the given platforms."""
    optional = {f"{NAME}-{one}": version() for one in sorted(platforms)}
    fields = {"bin": {"weir": "bin/weir.js"}, "engines": {"node": ">=16"}, "optionalDependencies": optional}
    # By this, the MCP registry knows that the package belongs to the server of that name.
    fields |= {"mcpName": mcp_registry.name()} if mcp_registry.name() else {}
    files = {
        "bin/weir.js": ((PACKAGING / "npm/weir.js").read_bytes(), 0o755),
        "README.md": ((PACKAGING / "README.md").read_bytes(), 0o644),
    }
    return _pack(out, _manifest(NAME, SUMMARY) | fields, files)


def _manifest(name, description):
    manifest = {"name": name, "version": version(), "description": description, "license": LICENCE, "author": AUTHORS}
    manifest |= {"keywords": KEYWORDS}
    return manifest | ({"repository": f"git+{repository()}.git"} if repository() else {})


def _pack(out, manifest, files):
    with tempfile.TemporaryDirectory() as scratch:
        folder = pathlib.Path(scratch) / "package"
        for name, (data, mode) in files.items():
            tree.put(folder / name, data, mode)
        for name in LICENCES:
            tree.put(folder / name, (ROOT / name).read_bytes())
        tree.put(folder / "package.json", (json.dumps(manifest, indent=2) + "\n").encode())
        tree.set_times(folder, epoch())
        command = ["npm", "pack", "--silent", "--ignore-scripts", "--pack-destination", str(out.resolve())]
        packed = subprocess.run(command, cwd=folder, capture_output=True, text=True)
        if packed.returncode != 0:
            die(f"cannot pack {manifest['name']}: {packed.stderr.strip()}")
        return out / packed.stdout.strip().splitlines()[-1]
