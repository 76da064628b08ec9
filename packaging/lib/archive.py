"""Builds the archive that the installer, Homebrew and `cargo binstall` use, and that of the team server.

Compressed with gzip: xz makes it a quarter smaller, but a minimal Debian has no xz, and the installer needs to unpack it.
"""

import gzip
import tarfile

from project import epoch, version


def build(out, program, prefix):
    """Returns the path of the archive."""
    name = f"{program.name}-{version()}-{program.target}"
    path = out / f"{name}.tar.gz"

    def plain(entry):
        entry.uid = entry.gid = 0
        entry.uname = entry.gname = ""
        entry.mtime = epoch()
        return entry

    with gzip.GzipFile(path, "wb", compresslevel=9, mtime=0) as compressed:
        with tarfile.open(fileobj=compressed, mode="w", format=tarfile.USTAR_FORMAT) as archive:
            archive.add(prefix, name, recursive=False, filter=plain)
            for one in sorted(prefix.rglob("*")):
                archive.add(one, f"{name}/{one.relative_to(prefix)}", recursive=False, filter=plain)
    return path
