"""Makes the folder that the Debian package and the archives contain: a prefix with bin, share and lib.

Nothing is in share/weir: below ~/.local, that is where Weir stores.
Man pages and completions come from the program itself, so it must run on this machine or `WEIR_NATIVE` must name one of
the same version that does.
"""

import gzip
import os
import pathlib
import shutil
import subprocess
import tempfile

from project import LICENCES, NOTICES, PACKAGING, ROOT, die

COMPLETIONS = {
    "bash": "share/bash-completion/completions/weir",
    "zsh": "share/zsh/site-functions/_weir",
    "fish": "share/fish/vendor_completions.d/weir.fish",
}


def make(folder, program, notices):
    """Fills a folder that does not exist yet."""
    documents = folder / "share/doc" / program.name
    put(folder / "bin" / program.file_name, program.path.read_bytes(), mode=0o755)
    for name in LICENCES:
        put(documents / name, (ROOT / name).read_bytes())
    put(documents / NOTICES, notices.encode())
    if program.name == "weir-server":
        put(documents / "README.md", (PACKAGING / "server/README.md").read_bytes())
        put(documents / "weir-team.service", (ROOT / "deploy/weir-team.service").read_bytes())
        return
    put(documents / "README.md", (PACKAGING / "README.md").read_bytes())
    native = os.environ.get("WEIR_NATIVE") or str(program.path)
    with tempfile.TemporaryDirectory() as pages:
        _ask(native, ["man", "--into", pages])
        for page in sorted(pathlib.Path(pages).iterdir()):
            put(folder / "share/man/man1" / f"{page.name}.gz", compressed(page.read_bytes()))
    for shell, place in COMPLETIONS.items():
        put(folder / place, _ask(native, ["completions", shell]))
    if program.system == "linux":
        put(folder / "lib/weir/apparmor/weir", (PACKAGING / "apparmor/weir").read_bytes())


def put(path, data, mode=0o644):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)
    path.chmod(mode)


def compressed(data):
    """Compresses without a name and a time, so that the same text gives the same bytes."""
    return gzip.compress(data, compresslevel=9, mtime=0)


def set_times(folder, seconds):
    for path in sorted(folder.rglob("*")) + [folder]:
        os.utime(path, (seconds, seconds), follow_symlinks=False)
        if path.is_dir():
            path.chmod(0o755)


def _ask(native, arguments):
    """What the program prints. It gets an empty home, so that asking it leaves nothing behind."""
    with tempfile.TemporaryDirectory() as home:
        environment = {"HOME": home, "PATH": os.environ["PATH"]}
        try:
            asked = subprocess.run([native, *arguments], capture_output=True, env=environment)
        except OSError as error:
            return die(f"cannot run {native}: {error}", "let WEIR_NATIVE name a program that runs on this machine")
    if asked.returncode != 0:
        die(f"cannot get `weir {' '.join(arguments[:1])}`: {asked.stderr.decode().strip()}")
    return asked.stdout


def copy(source, to):
    shutil.copytree(source, to, symlinks=True)
