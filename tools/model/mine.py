"""Finds pairs of texts that belong together in packages of permissive licences.

Usage: python mine.py --crates FOLDER --packages FOLDER --library FOLDER OUT.jsonl

  --crates    a folder of unpacked Rust packages (a Cargo.toml in each), such as cargo keeps
  --packages  a folder of installed Python packages (with their .dist-info)
  --library   the standard library of Python, which is under the PSF's licence

Each may be given more than once. A package is read only if the licence that it declares is on the list below: the filter
is by metadata. A line of the output has the package, the kind of the pair, the shorter and the longer text.
"""

import argparse
import ast
import json
import re
import tomllib
import warnings
from collections.abc import Iterator
from email.parser import HeaderParser
from pathlib import Path

PERMISSIVE = {
    "0BSD", "APACHE-2.0", "BSD-2-CLAUSE", "BSD-3-CLAUSE", "BSL-1.0", "CC0-1.0", "ISC", "MIT", "MIT-0", "PSF-2.0",
    "PYTHON-2.0", "UNICODE-3.0", "UNLICENSE", "ZLIB",
}  # fmt: skip
# What Python packages write where an identifier should be.
SPOKEN = {
    "APACHE": "APACHE-2.0", "APACHE 2": "APACHE-2.0", "APACHE 2.0": "APACHE-2.0", "APACHE LICENSE 2.0": "APACHE-2.0",
    "APACHE LICENSE, VERSION 2.0": "APACHE-2.0", "BSD": "BSD-3-CLAUSE", "BSD LICENSE": "BSD-3-CLAUSE",
    "3-CLAUSE BSD LICENSE": "BSD-3-CLAUSE", "MIT LICENSE": "MIT", "THE MIT LICENSE": "MIT", "PSF": "PSF-2.0",
    "APACHE SOFTWARE LICENSE": "APACHE-2.0", "ISC LICENSE (ISCL)": "ISC", "PYTHON SOFTWARE FOUNDATION LICENSE": "PSF-2.0",
}  # fmt: skip
# Texts longer than this are cut, as the program cuts them into chunks.
LONGEST = 1200
# One package must not be half of the training.
MOST_PER_PACKAGE = 1500

# Tests say little in words, and what was copied from elsewhere has a licence of its own.
PASSED_OVER = {"tests", "test", "site-packages", "_vendor", "vendor", "vendored", "third_party", "extern", "externals"}

Pair = tuple[str, str, str]


def is_permissive(licence: str) -> bool:
    """Whether one may choose permissive licences only: one side of each OR, both sides of each AND."""
    text = licence.strip().upper().replace("/", " OR ").replace("(", " ( ").replace(")", " ) ")
    if text in SPOKEN or text in PERMISSIVE:
        return True
    words = re.sub(r"\sWITH\s+LLVM-EXCEPTION", "", f" {text} ").split()
    if not words or any(word in ("WITH", ";", ",") for word in words):
        return False
    terms = [
        word if word in ("(", ")") else {"OR": "or", "AND": "and"}.get(word) or str(word in PERMISSIVE) for word in words
    ]
    try:
        # Only brackets, `and`, `or`, `True` and `False` are left.
        return bool(eval(" ".join(terms), {"__builtins__": {}}))
    except SyntaxError:
        return False


def crates(folder: Path) -> Iterator[tuple[str, Path]]:
    for manifest in sorted(folder.glob("*/Cargo.toml")):
        package = tomllib.loads(manifest.read_text(encoding="utf-8", errors="replace")).get("package", {})
        licence = package.get("license")
        if isinstance(licence, str) and is_permissive(licence):
            yield package["name"], manifest.parent


def packages(folder: Path) -> Iterator[tuple[str, Path]]:
    for metadata in sorted(folder.glob("*.dist-info/METADATA")):
        head = HeaderParser().parsestr(metadata.read_text(encoding="utf-8", errors="replace"))
        told = [head.get("License-Expression"), (head.get("License") or "").split("\n")[0]]
        marks = [one for one in head.get_all("Classifier") or [] if one.startswith("License ::")]
        told += [one.rsplit("::", 1)[1].strip() for one in marks]
        told = [one for one in told if one and one.strip() not in ("UNKNOWN", "OSI Approved")]
        # Everything that it says of its licence has to be permissive.
        if told and all(is_permissive(one) for one in told):
            record = metadata.parent / "RECORD"
            tops = {line.split("/")[0] for line in record.read_text(encoding="utf-8").splitlines() if "/" in line}
            for top in sorted(tops):
                if (folder / top).is_dir() and not top.endswith((".dist-info", "..", "__pycache__")):
                    yield head["Name"], folder / top


def of_rust(text: str) -> Iterator[Pair]:
    """A comment on an item, and the item."""
    lines = text.split("\n")
    at = 0
    while at < len(lines):
        if not lines[at].lstrip().startswith("///"):
            at += 1
            continue
        comment = []
        while at < len(lines) and lines[at].lstrip().startswith("///"):
            comment.append(lines[at].lstrip()[3:].strip())
            at += 1
        item = at
        while at < len(lines) and lines[at].lstrip().startswith("#["):
            at += 1
        if at < len(lines) and re.match(r"\s*(pub(\([^)]*\))?\s+)?(const |async |unsafe )*(fn|struct|enum|trait)\s", lines[at]):
            prose = " ".join(first_paragraph(comment))
            yield "rust", prose, block(lines, item)


def block(lines: list[str], at: int) -> str:
    """The lines of an item up to where its indentation ends, at most forty."""
    indent = len(lines[at]) - len(lines[at].lstrip())
    end = at + 1
    while end < min(at + 40, len(lines)):
        line = lines[end]
        end += 1
        if line.strip() and len(line) - len(line.lstrip()) <= indent and not line.lstrip().startswith(("{", "#[", "where")):
            break
    return "\n".join(lines[at:end])


def first_paragraph(lines: list[str]) -> list[str]:
    found = []
    for line in lines:
        if not line or line.startswith(("#", "```")):
            if found:
                break
            continue
        found.append(line)
    return found


def of_python(text: str) -> Iterator[Pair]:
    """The first paragraph of a docstring, and the function without it."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tree = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError):
        return
    lines = text.split("\n")
    for node in ast.walk(tree):
        if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) or node.name.startswith("test"):
            continue
        told = ast.get_docstring(node)
        if not told or len(node.body) < 2 or node.end_lineno is None:
            continue
        prose = " ".join(first_paragraph([line.strip() for line in told.split("\n")]))
        head = lines[node.lineno - 1 : node.body[0].lineno - 1]
        body = lines[node.body[0].end_lineno : node.end_lineno]
        yield "python", prose, "\n".join([*head, *body])


def of_markdown(text: str) -> Iterator[Pair]:
    """A heading and its section."""
    for part in re.split(r"(?m)^(?=#{1,4} )", text):
        heading, _, body = part.partition("\n")
        if heading.startswith("#") and not re.search(r"\d+\.\d+", heading):
            yield "heading", heading.strip("# \t"), body.strip()


READERS = {".rs": of_rust, ".py": of_python, ".md": of_markdown}


def pairs(folder: Path) -> Iterator[Pair]:
    for file in sorted(folder.rglob("*")):
        reader = READERS.get(file.suffix)
        if reader is None or not file.is_file() or file.stat().st_size > 1 << 20:
            continue
        if PASSED_OVER & set(file.relative_to(folder).parts):
            continue
        yield from reader(file.read_text(encoding="utf-8", errors="replace"))


def is_good(short: str, long: str) -> bool:
    enough = len(short.split()) >= 2 and len(short) <= 400 and len(long) >= 40
    return enough and short.isascii() and "licen" not in short.lower()


def main() -> None:
    parser = argparse.ArgumentParser()
    for kind in ("crates", "packages", "library"):
        parser.add_argument(f"--{kind}", type=Path, action="append", default=[])
    parser.add_argument("out", type=Path)
    asked = parser.parse_args()
    places = [place for folder in asked.crates for place in crates(folder)]
    places += [place for folder in asked.packages for place in packages(folder)]
    places += [("python", folder) for folder in asked.library]
    seen: set[str] = set()
    kept: dict[str, int] = {}
    with asked.out.open("w", encoding="utf-8") as out:
        for name, folder in places:
            of_package = 0
            for kind, short, long in pairs(folder):
                # The same short text with several long ones would be its own wrong answer.
                if not is_good(short, long) or short in seen or of_package >= MOST_PER_PACKAGE:
                    continue
                seen.add(short)
                of_package += 1
                kept[kind] = kept.get(kind, 0) + 1
                line = {"package": name, "kind": kind, "short": short, "long": long[:LONGEST]}
                out.write(json.dumps(line) + "\n")
    print(f"{sum(kept.values())} pairs of {len(places)} packages: {kept}")


if __name__ == "__main__":
    main()
