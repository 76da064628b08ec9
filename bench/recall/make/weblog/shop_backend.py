"""The application behind nginx: a few paths, some of which fail."""
import http.server, socketserver, time


class H(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        p, n = self.path.split("?")[0], int(self.headers.get("X-N", "0"))
        code, body = 200, b"x" * (400 + n * 37 % 5000)
        if p.startswith("/api/invoices") and n % 6 == 0:
            code, body = 500, b'{"error":"template missing"}'
        elif p == "/api/search" and n % 70 == 3:
            time.sleep(1.3)
        elif p == "/admin":
            code, body = 403, b"forbidden"
        elif p.startswith("/old/"):
            code, body = 301, b""
        elif p == "/api/login" and n % 3 == 0:
            code, body = 401, b"no"
        elif p in ("/wp-login.php", "/.env", "/api/v0/items"):
            code, body = 404, b"not found"
        try:
            self.send_response(code)
            if code == 301:
                self.send_header("Location", "/")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)
        except BrokenPipeError:
            pass

    do_POST = do_GET

    def log_message(self, *a):
        pass


class S(socketserver.ThreadingMixIn, http.server.HTTPServer):
    daemon_threads = True


S(("127.0.0.1", 8091), H).serve_forever()
