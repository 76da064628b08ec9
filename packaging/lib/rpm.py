"""Builds the RPM package with rpmbuild, which finds out itself what libraries the program needs."""

import os
import pathlib
import shutil
import subprocess
import tempfile

import tree
from project import DEBIAN_NAME, LICENCE, LICENCES, MARKER, NOTICES, PACKAGING, SUMMARY
from project import debian_version, die, epoch, filled, repository, version


def build(out, program, prefix):
    """Returns the path of the package."""
    if not shutil.which("rpmbuild"):
        die("rpmbuild is not installed", "install the package `rpm` of Debian, or name the kinds of package to build")
    with tempfile.TemporaryDirectory() as scratch:
        top = pathlib.Path(scratch)
        root = top / "tree"
        tree.copy(prefix, root / "usr")
        shutil.rmtree(root / "usr/lib/weir/apparmor")
        tree.put(root / "usr/lib/weir" / MARKER, f"rpm {DEBIAN_NAME}\n".encode())
        licences = root / "usr/share/licenses" / DEBIAN_NAME
        for name in [*LICENCES, NOTICES]:
            tree.put(licences / name, (root / "usr/share/doc/weir" / name).read_bytes())
            (root / "usr/share/doc/weir" / name).unlink()
        tree.set_times(root, epoch())
        values = {
            "VERSION": debian_version(version()),
            "SUMMARY": SUMMARY,
            "LICENCE": LICENCE,
            "HOMEPAGE": f"URL: {repository()}" if repository() else "",
            "TREE": str(root),
            "FILES": "\n".join(_files(root)),
        }
        (top / "weir.spec").write_text(filled(PACKAGING / "rpm/weir.spec.in", values))
        command = ["rpmbuild", "-bb", "--quiet", f"--target={program.machine}-linux", f"--define=_topdir {top}"]
        environment = {**os.environ, "SOURCE_DATE_EPOCH": str(epoch())}
        built = subprocess.run([*command, str(top / "weir.spec")], capture_output=True, text=True, env=environment)
        found = list(top.glob("RPMS/*/*.rpm"))
        if built.returncode != 0 or len(found) != 1:
            die(f"cannot build the RPM package: {built.stderr.strip()}")
        return pathlib.Path(shutil.copy(found[0], out))


def _files(root):
    """What the package owns: its files, and those folders that are its own."""
    for path in sorted(root.rglob("*")):
        place = f"/{path.relative_to(root)}"
        kind = "%license " if "/licenses/" in place else "%doc " if "/share/doc/" in place or "/man/" in place else ""
        if path.is_dir():
            if path.name == DEBIAN_NAME:
                yield f"%dir {place}"
        else:
            yield f"{kind}%attr({'0755' if path.stat().st_mode & 0o111 else '0644'}, root, root) {place}"
