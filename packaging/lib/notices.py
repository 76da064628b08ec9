"""Collects the licences of everything that is compiled into the program.

Which crates: those that `cargo metadata` reaches from the program by normal dependencies, for the target. What their authors
wrote: the licence files of the registry's sources, also those of C code inside them. Equal texts appear once.
Invariant: every crate has a text or is one of MIT or Apache-2.0, whose texts are standard; otherwise this fails.
"""

import json
import pathlib
import re
import subprocess

from project import LICENCES, ROOT, die

LICENCE_FILE = re.compile(r"^(licen[cs]e|copying|copyright|notice|unlicense|patents)", re.I)
# Not licence texts: sources and data whose names begin like one.
NOT_TEXT = {".rs", ".c", ".h", ".py", ".js", ".go", ".toml", ".json", ".yml", ".yaml", ".html", ".sh"}
# How deep C libraries are inside the crates that carry them.
MAX_DEPTH = 3
SKIPPED_FOLDERS = {"tests", "test", "fuzz", "benches", "examples", "node_modules", "target"}
# What no crate's licence file covers.
BESIDE = [
    ("the Rust standard library", "MIT OR Apache-2.0", "The Rust Project contributors"),
    ("o200k token table of tiktoken", "MIT", "OpenAI, Shantanu Jain"),
]


def write(program):
    """Returns the text of all notices for a program."""
    packages = _compiled_in(program)
    texts, rows, unknown = {}, [], []
    by_repository = {}
    for package in packages:
        by_repository.setdefault(package["repository"], []).extend(_texts(package))
    for package in packages:
        # A crate without a text has that of its siblings: those from the same repository, if it names one.
        found = _texts(package) or (by_repository[package["repository"]] if package["repository"] else [])
        licence = package["license"] or f"see {package['license_file']}"
        rows.append(f"{package['name']} {package['version']}: {licence}")
        for text in found:
            texts.setdefault(text, []).append(f"{package['name']} {package['version']}")
        if not found:
            name = f"{package['name']} {package['version']}"
            authors = ", ".join(package["authors"]) or f"the authors of {package['name']}"
            text = _standard(licence, re.sub(r" <[^>]*>", "", authors))
            if text is None:
                unknown.append(f"{name} ({licence})")
            else:
                texts.setdefault(text, []).append(name)
    if unknown:
        die(f"no licence text for {', '.join(unknown)}", "add it to packaging/lib/notices.py")
    for name, licence, authors in BESIDE:
        rows.append(f"{name}: {licence}")
        texts.setdefault(_standard(licence, authors), []).append(name)
    for path in sorted((ROOT / "crates/weir-embed/model").glob("LICENSE*")):
        texts.setdefault(_clean(path.read_text()), []).append(f"the model for search by meaning ({path.name})")
    rows.append("the model for search by meaning: see its texts below")
    return _assemble(program, rows, texts)


def _assemble(program, rows, texts):
    title = f"{program.name} for {program.target} contains the following. Their licences are below, each text once."
    parts = [title + "\n\n" + "\n".join(rows)]
    for text, users in sorted(texts.items(), key=lambda item: item[1]):
        parts.append("=" * 80 + "\n" + "\n".join(sorted(set(users))) + "\n" + "-" * 80 + "\n\n" + text)
    return "\n\n".join(parts) + "\n"


def _compiled_in(program):
    command = ["cargo", "metadata", "--locked", "--format-version", "1", "--filter-platform", program.target]
    command += ["--manifest-path", str(ROOT / "crates" / program.name / "Cargo.toml")]
    asked = subprocess.run(command, capture_output=True, text=True)
    if asked.returncode != 0:
        die(f"cannot list the dependencies: {asked.stderr.strip()}")
    metadata = json.loads(asked.stdout)
    packages = {package["id"]: package for package in metadata["packages"]}
    nodes = {node["id"]: node for node in metadata["resolve"]["nodes"]}
    reached, open_ids = set(), [metadata["resolve"]["root"]]
    while open_ids:
        one = open_ids.pop()
        if one in reached:
            continue
        reached.add(one)
        for dep in nodes[one]["deps"]:
            if any(kind["kind"] is None for kind in dep["dep_kinds"]):
                open_ids.append(dep["pkg"])
    foreign = [packages[one] for one in reached if packages[one]["source"]]
    return sorted(foreign, key=lambda package: (package["name"], package["version"]))


def _texts(package):
    folder = pathlib.Path(package["manifest_path"]).parent
    paths = []
    for path in sorted(folder.rglob("*")):
        parts = path.relative_to(folder).parts
        if len(parts) > MAX_DEPTH + 1 or any(part in SKIPPED_FOLDERS for part in parts[:-1]):
            continue
        # A folder named `licenses` holds texts of any name.
        in_folder = any(LICENCE_FILE.match(part) for part in parts[:-1])
        is_named = LICENCE_FILE.match(path.name) or path.name == package["license_file"]
        if path.is_file() and (in_folder or is_named) and path.suffix not in NOT_TEXT:
            paths.append(path)
    texts = [_clean(path.read_text(errors="replace")) for path in paths]
    return list(dict.fromkeys(text for text in texts if text))


def _clean(text):
    return "\n".join(line.rstrip() for line in text.replace("\r", "").strip("\n \f").split("\n"))


def _standard(licence, authors):
    """The standard text of MIT, or of Apache-2.0, where a crate brings none; None for any other licence."""
    names = set(re.split(r"[ /()]+", licence))
    mit, apache = (_clean((ROOT / name).read_text()) for name in LICENCES)
    if "MIT" in names and "AND" not in names:
        return re.sub(r"^Copyright .*$", f"Copyright (c) {authors}", mit, count=1, flags=re.M)
    return apache if "Apache-2.0" in names and "AND" not in names else None
