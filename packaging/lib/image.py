"""Builds the OCI image of a program, without a daemon and without a base image: the program, a user, and the texts.

A program that needs libraries brings those of this machine along, so that the image can be tried; releases are static
and bring none. The file is an OCI layout in a tar, which docker, podman and skopeo load and push.
"""

import gzip
import hashlib
import io
import json
import pathlib
import platform
import subprocess
import tarfile
import time

import mcp_registry
from project import AUTHORS, LICENCE, LICENCES, NOTICES, ROOT, SUMMARY, die, epoch, repository, version

ARCHITECTURES = {"x86_64": "amd64", "aarch64": "arm64"}
# The same user as in deploy/Dockerfile.
USER = 10001
HOME = "var/lib/weir"
SERVE = ["serve", "--bind", "0.0.0.0:4747", "--insecure", "--data", f"/{HOME}/data"]
OCI = "application/vnd.oci.image"


def build(out, program, notices):
    """Returns the path of the image."""
    layer = _layer(program, notices)
    blobs = _Blobs()
    compressed = gzip.compress(layer, compresslevel=9, mtime=0)
    described = blobs.add(f"{OCI}.layer.v1.tar+gzip", compressed)
    created = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(epoch()))
    config = {
        "created": created,
        "architecture": ARCHITECTURES[program.machine],
        "os": "linux",
        "config": _config(program),
        "rootfs": {"type": "layers", "diff_ids": [f"sha256:{hashlib.sha256(layer).hexdigest()}"]},
        "history": [{"created": created, "created_by": "packaging/build"}],
    }
    manifest = {"schemaVersion": 2, "mediaType": f"{OCI}.manifest.v1+json"}
    manifest |= {"config": blobs.add_json(f"{OCI}.config.v1+json", config), "layers": [described]}
    index = blobs.add_json(f"{OCI}.manifest.v1+json", manifest)
    index["annotations"] = {"org.opencontainers.image.ref.name": version()}
    files = [("oci-layout", _json({"imageLayoutVersion": "1.0.0"}))]
    files.append(("index.json", _json({"schemaVersion": 2, "manifests": [index]})))
    path = out / f"{program.name}-{version()}-{program.target}.oci.tar"
    path.write_bytes(_tar([(name, data, 0o644, 0) for name, data in files + sorted(blobs.files.items())]))
    return path


class _Blobs:
    """What the layout has under the name of its own checksum."""

    def __init__(self):
        self.files = {}

    def add(self, kind, data):
        digest = hashlib.sha256(data).hexdigest()
        self.files[f"blobs/sha256/{digest}"] = data
        return {"mediaType": kind, "digest": f"sha256:{digest}", "size": len(data)}

    def add_json(self, kind, value):
        return self.add(kind, _json(value))


def _config(program):
    labels = {
        "title": program.name,
        "description": SUMMARY if program.name == "weir" else "Team server of Weir",
        "version": version(),
        "licenses": LICENCE,
        "authors": AUTHORS,
    } | ({"source": repository()} if repository() else {})
    labels = {f"org.opencontainers.image.{name}": value for name, value in labels.items()}
    config = {
        "User": f"{USER}:{USER}",
        "Env": ["PATH=/usr/local/bin:/usr/bin:/bin", f"HOME=/{HOME}"],
        "Entrypoint": [f"/usr/local/bin/{program.name}"],
        "Volumes": {f"/{HOME}": {}},
        "Labels": labels,
        "StopSignal": "SIGTERM",
    }
    if program.name == "weir-server":
        # A proxy in front of the container terminates TLS, as with deploy/Dockerfile.
        return config | {"Cmd": SERVE, "WorkingDir": f"/{HOME}", "ExposedPorts": {"4747/tcp": {}}}
    if mcp_registry.name():
        labels["io.modelcontextprotocol.server.name"] = mcp_registry.name()
    return config | {"Cmd": ["mcp"], "WorkingDir": "/project"}


def _layer(program, notices):
    documents = f"usr/share/doc/{program.name}"
    users = f"root:x:0:0:root:/:/bin/sh\nweir:x:{USER}:{USER}::/{HOME}:/bin/sh\n"
    files = [
        ("etc/passwd", users.encode(), 0o644, 0),
        ("etc/group", f"root:x:0:\nweir:x:{USER}:\n".encode(), 0o644, 0),
        ("project/", None, 0o755, 0),
        ("tmp/", None, 0o1777, 0),
        (f"usr/local/bin/{program.name}", program.path.read_bytes(), 0o755, 0),
        *((f"{documents}/{name}", (ROOT / name).read_bytes(), 0o644, 0) for name in LICENCES),
        (f"{documents}/{NOTICES}", notices.encode(), 0o644, 0),
        (f"{HOME}/", None, 0o700, USER),
        *((path.lstrip("/"), pathlib.Path(path).read_bytes(), 0o755, 0) for path in _libraries(program)),
    ]
    return _tar(files)


def _libraries(program):
    """The files that the program needs of this machine."""
    if program.is_static:
        return []
    if program.machine != platform.machine():
        return die(f"cannot find the libraries of {program.path}: it is for another machine", "link it statically")
    asked = subprocess.run(["ldd", str(program.path)], capture_output=True, text=True)
    if asked.returncode != 0:
        return die(f"cannot find the libraries of {program.path}: {asked.stderr.strip()}")
    return sorted(word for line in asked.stdout.splitlines() for word in line.split() if word.startswith("/"))


def _tar(files):
    """Each file a name, its bytes or None for a folder, its mode and its owner. Folders on the way are made."""
    made, packed = set(), io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w", format=tarfile.USTAR_FORMAT) as archive:
        for name, data, mode, owner in files:
            parts = name.rstrip("/").split("/")
            for depth in range(1, len(parts)):
                folder = "/".join(parts[:depth])
                if folder not in made:
                    archive.addfile(_entry(folder, 0o755, 0, tarfile.DIRTYPE))
                    made.add(folder)
            if data is None:
                archive.addfile(_entry(name.rstrip("/"), mode, owner, tarfile.DIRTYPE))
                made.add(name.rstrip("/"))
                continue
            entry = _entry(name, mode, owner, tarfile.REGTYPE)
            entry.size = len(data)
            archive.addfile(entry, io.BytesIO(data))
    return packed.getvalue()


def _entry(name, mode, owner, kind):
    entry = tarfile.TarInfo(name)
    entry.type, entry.mode, entry.mtime = kind, mode, epoch()
    entry.uid = entry.gid = owner
    return entry


def _json(value):
    return json.dumps(value, indent=1, sort_keys=True).encode()
