"""Writes a zip whose bytes depend on nothing but its files and the time of the commit."""

import time
import zipfile

from project import epoch


def write(path, files):
    """Writes the files, each a name, its bytes and its mode, and returns the path."""
    # A zip has no times before 1980, and only even seconds.
    moment = time.gmtime(max(epoch(), 315532800))[:6]
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
        for name, data, mode in files:
            entry = zipfile.ZipInfo(name, moment)
            # With the bit of a regular file: pip ignores the mode of an entry without it.
            entry.external_attr = (0o100000 | mode) << 16
            entry.compress_type = zipfile.ZIP_DEFLATED
            archive.writestr(entry, data)
    return path
