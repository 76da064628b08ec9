"""What every package says about Weir: names, version, texts, and the time that all files have.

Published names differ from the command, because `weir` is taken: docs/releasing.md has the list.
"""

import os
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
PACKAGING = ROOT / "packaging"

# The name in registries, and the name of the Debian package, which has no registry to collide with.
NAME = "weir-cli"
DEBIAN_NAME = "weir"

SUMMARY = "Context layer for AI coding agents: keeps tool output out of the window"
LICENCE = "MIT OR Apache-2.0"
LICENCES = ["LICENSE-MIT", "LICENSE-APACHE"]
NOTICES = "THIRD-PARTY-NOTICES.txt"
AUTHORS = "The Weir contributors"
KEYWORDS = ["ai", "agents", "context", "mcp", "cli"]

# What `weir upgrade` reads next to the program.
MARKER = "weir.origin"


def die(problem, hint=None):
    print(f"error: {problem}", file=sys.stderr)
    if hint:
        print(f"hint: {hint}", file=sys.stderr)
    sys.exit(1)


def say(text):
    print(text, file=sys.stderr)


def version():
    manifest = (ROOT / "Cargo.toml").read_text()
    found = re.search(r'^\[workspace\.package\]\nversion = "([^"]+)"', manifest, re.M)
    return found.group(1) if found else die("Cargo.toml has no version")


def python_version(semantic):
    """The same version as Python writes it: 1.0.0-rc.1 is 1.0.0rc1. A hyphen would end the version in a wheel's name."""
    number, _, release = semantic.partition("-")
    if not release and re.fullmatch(r"[0-9]+\.[0-9]+\.[0-9]+", number):
        return number
    sorts = {"alpha": "a", "beta": "b", "rc": "rc", "dev": ".dev"}
    found = re.fullmatch(r"([a-z]+)\.?([0-9]+)", release)
    if not found or found.group(1) not in sorts or "+" in number:
        return die(f"cannot write version {semantic} for Python", f"use -{'.1, -'.join(sorts)}.1, or no suffix")
    return f"{number}{sorts[found.group(1)]}{found.group(2)}"


def debian_version(semantic):
    """The same version as Debian and RPM sort it: a tilde comes before everything, so 1.0.0~rc.1 is older than 1.0.0."""
    return semantic.replace("-", "~", 1)


def filled(path, values):
    """The text of a template with a value for each `@NAME@` in it."""
    text = path.read_text()
    for name, value in values.items():
        text = text.replace(f"@{name}@", value)
    left = re.search(r"@[A-Z_0-9]+@", text)
    return die(f"{path.name} has {left.group()}, which nothing fills") if left else text


def repository():
    """The address of the public repository, or None: the project does not have one yet, so a release names it."""
    return os.environ.get("WEIR_REPOSITORY", "").rstrip("/") or None


def epoch():
    """The time of all packaged files, in seconds: that of the last commit, so that two builds are the same."""
    if "SOURCE_DATE_EPOCH" in os.environ:
        return int(os.environ["SOURCE_DATE_EPOCH"])
    asked = subprocess.run(["git", "-C", str(ROOT), "log", "-1", "--format=%ct"], capture_output=True, text=True)
    return int(asked.stdout) if asked.returncode == 0 else die("no time of a commit", "set SOURCE_DATE_EPOCH")
