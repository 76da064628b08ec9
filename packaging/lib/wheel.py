"""Builds the wheel: a zip whose only script is the program itself. pipx and uv put every script into the user's PATH.

The tag says what the program needs, as its bytes say: a static one runs with glibc and with musl.
"""

import base64
import hashlib

import zips
from project import AUTHORS, KEYWORDS, LICENCE, LICENCES, MARKER, NAME, NOTICES, PACKAGING, ROOT, SUMMARY
from project import python_version, repository, version

# What the manylinux policies allow a program to need.
ALLOWED = {"libgcc_s.so.1", "libm.so.6", "libc.so.6", "ld-linux-x86-64.so.2", "ld-linux-aarch64.so.1"}


def build(out, program, notices):
    """Returns the path of the wheel."""
    stem = f"{NAME.replace('-', '_')}-{python_version(version())}"
    tag = _tag(program)
    path = out / f"{stem}-py3-none-{tag}.whl"
    info, scripts, lib = f"{stem}.dist-info", f"{stem}.data/scripts", f"{stem}.data/data/lib/weir"
    tags = "".join(f"Tag: py3-none-{one}\n" for one in tag.split("."))
    files = [
        (f"{scripts}/{program.file_name}", program.path.read_bytes(), 0o755),
        (f"{lib}/{MARKER}", f"pip {NAME}\n".encode(), 0o644),
        *((f"{info}/licenses/{name}", (ROOT / name).read_bytes(), 0o644) for name in LICENCES),
        (f"{info}/licenses/{NOTICES}", notices.encode(), 0o644),
        (f"{info}/METADATA", _metadata().encode(), 0o644),
        (f"{info}/WHEEL", f"Wheel-Version: 1.0\nGenerator: weir\nRoot-Is-Purelib: false\n{tags}".encode(), 0o644),
    ]
    record = "".join(f"{name},{_digest(data)},{len(data)}\n" for name, data, _ in files) + f"{info}/RECORD,,\n"
    files.append((f"{info}/RECORD", record.encode(), 0o644))
    return zips.write(path, files)


def _tag(program):
    if program.system == "macos":
        major, minor = program.oldest
        machine = "arm64" if program.machine == "aarch64" else program.machine
        return f"macosx_{major}_{minor}_{machine}"
    if program.system == "windows":
        return {"x86_64": "win_amd64", "aarch64": "win_arm64"}[program.machine]
    if program.is_static:
        return f"manylinux_2_17_{program.machine}.musllinux_1_1_{program.machine}"
    if set(program.libraries) <= ALLOWED:
        major, minor = program.oldest
        return f"manylinux_{major}_{minor}_{program.machine}"
    # An index refuses this tag; a person who builds for this machine may use it.
    return f"linux_{program.machine}"


def _digest(data):
    return "sha256=" + base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()


def _metadata():
    lines = ["Metadata-Version: 2.4", f"Name: {NAME}", f"Version: {python_version(version())}", f"Summary: {SUMMARY}"]
    lines += [f"Author: {AUTHORS}", f"License-Expression: {LICENCE}", f"Keywords: {','.join(KEYWORDS)}"]
    lines += [f"License-File: {name}" for name in [*LICENCES, NOTICES]]
    lines += ["Classifier: Environment :: Console", "Classifier: Topic :: Software Development"]
    lines += [f"Project-URL: Repository, {repository()}"] if repository() else []
    lines += ["Requires-Python: >=3.8", "Description-Content-Type: text/markdown", ""]
    return "\n".join(lines) + "\n" + (PACKAGING / "README.md").read_text()
