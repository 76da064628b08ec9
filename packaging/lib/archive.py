"""Builds the archive that the installer, package managers and `cargo binstall` use, and that of the team server.

Compressed with gzip: xz makes it a quarter smaller, but a minimal Debian has no xz, and the installer needs to unpack it.
"""

import gzip
import tarfile

import zips
from project import epoch, version


def build(out, program, prefix):
    """Returns the path of the archive: for Windows a zip, because winget opens nothing else."""
    name = f"{program.name}-{version()}-{program.target}"
    if program.system == "windows":
        files = [one for one in sorted(prefix.rglob("*")) if one.is_file()]
        return zips.write(out / f"{name}.zip", [
            (f"{name}/{one.relative_to(prefix).as_posix()}", one.read_bytes(), 0o755 if one.suffix == ".exe" else 0o644)
            for one in files
        ])
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
