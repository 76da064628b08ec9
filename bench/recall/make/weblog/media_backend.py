"""A media library behind nginx."""
import http.server, socketserver


class H(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self):
        p, n = self.path.split("?")[0], int(self.headers.get("X-N", "0"))
        code, size = 200, 900 + n * 53 % 40000
        if p.startswith("/thumb/") and p.endswith("00.webp"):
            code, size = 404, 20
        elif p == "/upload" and n % 9 == 0:
            code, size = 413, 35
        elif p == "/feed.xml" and n % 4:
            code, size = 304, 0
        elif p == "/transcode" and 1500 < n < 2600:
            code, size = 503, 61
        elif p == "/albums/77/export":
            code, size = 500, 88
        elif p.startswith("/video/"):
            code, size = 206, 500000
        self.send_response(code)
        self.send_header("Content-Length", str(size))
        self.end_headers()
        if code != 304:
            self.wfile.write(b"m" * size)

    do_POST = do_DELETE = do_GET

    def log_message(self, *a):
        pass


class S(socketserver.ThreadingMixIn, http.server.HTTPServer):
    daemon_threads = True


S(("127.0.0.1", 8095), H).serve_forever()
