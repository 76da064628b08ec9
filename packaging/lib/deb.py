"""Builds the Debian package with dpkg-deb.

The AppArmor profile is installed by the maintainer scripts, and only where AppArmor knows its version: an older one
would refuse the file, and with it complain at every start.
"""

import os
import pathlib
import subprocess
import tempfile

import tree
from project import AUTHORS, DEBIAN_NAME, LICENCES, MARKER, PACKAGING, ROOT, SUMMARY
from project import debian_version, die, epoch, repository, version

MACHINES = {"x86_64": "amd64", "aarch64": "arm64"}
LIBRARIES = {"libgcc_s.so.1": "libgcc-s1", "libm.so.6": None, "libc.so.6": None}


def build(out, program, prefix):
    """Returns the path of the package."""
    architecture = MACHINES[program.machine]
    path = out / f"{DEBIAN_NAME}_{version()}_{architecture}.deb"
    with tempfile.TemporaryDirectory() as scratch:
        root = pathlib.Path(scratch) / "root"
        tree.copy(prefix, root / "usr")
        _make_debian(root / "usr")
        size = sum(one.stat().st_size for one in root.rglob("*") if one.is_file()) // 1024
        tree.put(root / "DEBIAN/control", _control(program, architecture, size).encode())
        for name in ["postinst", "prerm", "postrm"]:
            tree.put(root / "DEBIAN" / name, (PACKAGING / "deb" / name).read_bytes(), mode=0o755)
        tree.set_times(root, epoch())
        environment = {**os.environ, "SOURCE_DATE_EPOCH": str(epoch())}
        command = ["dpkg-deb", "--root-owner-group", "-Zxz", "--build", str(root), str(path)]
        built = subprocess.run(command, capture_output=True, text=True, env=environment)
        if built.returncode != 0:
            die(f"cannot build {path.name}: {built.stderr.strip()}")
    return path


def _make_debian(usr):
    """Moves what Debian has elsewhere, and adds what its policy asks for."""
    completions = usr / "share/zsh/vendor-completions"
    completions.parent.mkdir(parents=True, exist_ok=True)
    (usr / "share/zsh/site-functions").rename(completions)
    documents = usr / "share/doc/weir"
    notices = documents / "THIRD-PARTY-NOTICES.txt"
    tree.put(documents / "THIRD-PARTY-NOTICES.txt.gz", tree.compressed(notices.read_bytes()))
    notices.unlink()
    tree.put(documents / "changelog.gz", tree.compressed((ROOT / "CHANGELOG.md").read_bytes()))
    tree.put(documents / "copyright", _copyright().encode())
    for name in LICENCES:
        (documents / name).unlink()
    tree.put(usr / "lib/weir" / MARKER, f"deb {DEBIAN_NAME}\n".encode())


def _control(program, architecture, size):
    depends = []
    if not program.is_static:
        depends.append(f"libc6 (>= {'.'.join(map(str, program.oldest))})")
        for library in program.libraries:
            if library.startswith("ld-linux"):
                continue
            if library not in LIBRARIES:
                die(f"no Debian package is known for {library}", "add it to packaging/lib/deb.py")
            depends += [LIBRARIES[library]] if LIBRARIES[library] else []
    fields = {
        "Package": DEBIAN_NAME,
        "Version": debian_version(version()),
        "Architecture": architecture,
        "Maintainer": os.environ.get("WEIR_MAINTAINER", AUTHORS),
        "Installed-Size": str(size),
        "Depends": ", ".join(depends),
        "Recommends": "ca-certificates",
        "Section": "devel",
        "Priority": "optional",
        "Homepage": repository() or "",
        "Description": SUMMARY + "\n " + "\n ".join(_description()),
    }
    return "".join(f"{name}: {value}\n" for name, value in fields.items() if value)


def _description():
    return [
        "Weir stores the output of tools in full on this machine, and shows the model",
        "a short digest with a reference to the rest. It runs code in a sandbox, and",
        "searches notes, files, pages and past sessions.",
    ]


def _copyright():
    mit = (ROOT / "LICENSE-MIT").read_text()
    indented = "\n".join(f" {line}" if line.strip() else " ." for line in mit.strip().splitlines())
    return f"""Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/
Upstream-Name: Weir
Comment: The program contains the work of others; their licences are in THIRD-PARTY-NOTICES.txt.gz.

Files: *
Copyright: {AUTHORS}
License: Expat or Apache-2.0

License: Expat
{indented}

License: Apache-2.0
 The full text is in /usr/share/common-licenses/Apache-2.0.
"""
