"""A recorder in front of a proxy: logs the body of every request as it is, and passes the request and its answer on.

It numbers the requests in the header X-Recorded, so that what arrives at the other end can be compared.
"""

import http.client
import itertools
import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

# What belongs to a connection.
OWN_HEADERS = ("connection", "content-length", "host", "keep-alive", "transfer-encoding")


def serve(address, log):
    """Starts the recorder on a free port of loopback and returns the port."""
    shared = {"address": address, "log": log, "numbers": itertools.count(), "lock": threading.Lock()}
    server = ThreadingHTTPServer(("127.0.0.1", 0), type("Bound", (Handler,), shared))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return server.server_address[1]


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        """The log is the file."""

    def do_POST(self):
        body = self.read_body()
        number = self.record(body)
        headers = {name: value for name, value in self.headers.items() if name.lower() not in OWN_HEADERS}
        headers["X-Recorded"] = str(number)
        connection = http.client.HTTPConnection(self.address, timeout=120)
        connection.request(self.command, self.path, body, headers)
        answer = connection.getresponse()
        data = answer.read()
        # With the date and the name of the one that answered.
        self.send_response_only(answer.status)
        for name, value in answer.getheaders():
            if name.lower() not in OWN_HEADERS:
                self.send_header(name, value)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(data)
        connection.close()

    do_GET = do_HEAD = do_POST

    def record(self, body):
        with self.lock:
            number = next(self.numbers)
            with open(self.log, "a", encoding="utf-8") as file:
                raw = body.decode("utf-8", "replace")
                file.write(json.dumps({"number": number, "path": self.path, "raw": raw}, ensure_ascii=False) + "\n")
        return number

    def read_body(self):
        if self.headers.get("Transfer-Encoding", "").lower() != "chunked":
            return self.rfile.read(int(self.headers.get("Content-Length") or 0))
        chunks = []
        while size := int(self.rfile.readline().split(b";")[0], 16):
            chunks.append(self.rfile.read(size))
            self.rfile.readline()
        self.rfile.readline()
        return b"".join(chunks)
