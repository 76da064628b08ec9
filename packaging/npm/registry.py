#!/usr/bin/env python3
"""Serves packed npm packages on loopback as a registry does, so that npm resolves optional dependencies for real.

  registry.py FOLDER    prints its address, and ends with its standard input
"""

import base64
import hashlib
import http.server
import json
import pathlib
import sys
import tarfile
import threading


def packages(folder):
    """The manifest of each package, and its file. Features for development containers have the same ending."""
    for path in sorted(pathlib.Path(folder).glob("weir-cli*.tgz")):
        with tarfile.open(path) as archive:
            yield json.load(archive.extractfile("package/package.json")), path


class Handler(http.server.BaseHTTPRequestHandler):
    known = {}

    def do_GET(self):
        name = self.path.strip("/")
        for manifest, path in self.known.values():
            if name == manifest["name"]:
                return self.answer(json.dumps(self.describe(manifest, path)).encode())
            if name == path.name:
                return self.answer(path.read_bytes())
        return self.answer(b"{}", status=404)

    def describe(self, manifest, path):
        digest = base64.b64encode(hashlib.sha512(path.read_bytes()).digest()).decode()
        address = f"http://{self.headers['Host']}/{path.name}"
        one = manifest | {"dist": {"tarball": address, "integrity": f"sha512-{digest}"}}
        version = manifest["version"]
        return {"name": manifest["name"], "dist-tags": {"latest": version}, "versions": {version: one}}

    def answer(self, data, status=200):
        self.send_response(status)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *_):
        pass


Handler.known = {manifest["name"]: (manifest, path) for manifest, path in packages(sys.argv[1])}
server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
threading.Thread(target=server.serve_forever, daemon=True).start()
print(f"http://127.0.0.1:{server.server_port}", flush=True)
sys.stdin.read()
