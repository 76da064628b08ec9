"""Packs the feature for development containers: a description, a script, and the installer of the release."""

import gzip
import io
import tarfile

from project import PACKAGING, SUMMARY, epoch, filled, repository, version

FOLDER = PACKAGING / "devcontainer"


def build(out, installer):
    """Returns the path of the feature, which has the name that tools for features give it."""
    values = {"VERSION": version(), "SUMMARY": SUMMARY, "HOMEPAGE": repository()}
    files = {
        "devcontainer-feature.json": (filled(FOLDER / "devcontainer-feature.json.in", values), 0o644),
        "install.sh": ((FOLDER / "install.sh").read_text(), 0o755),
        "weir-install.sh": (installer, 0o755),
    }
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w", format=tarfile.USTAR_FORMAT) as archive:
        for name, (text, mode) in files.items():
            entry = tarfile.TarInfo(name)
            entry.size, entry.mode, entry.mtime = len(text.encode()), mode, epoch()
            archive.addfile(entry, io.BytesIO(text.encode()))
    path = out / "devcontainer-feature-weir.tgz"
    path.write_bytes(gzip.compress(packed.getvalue(), compresslevel=9, mtime=0))
    return path
