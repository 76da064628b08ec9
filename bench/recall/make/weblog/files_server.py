"""Python's own http.server, with its own log on stderr, for a folder of build artefacts, and a client."""
import http.client, http.server, os, random, socketserver, threading

os.makedirs("artefacts/nightly", exist_ok=True)
for n in range(12):
    open(f"artefacts/nightly/build-{n:03d}.tar", "wb").write(b"\0" * 2048 * (n + 1))
open("artefacts/index.txt", "w").write("nightly\n")


class H(http.server.SimpleHTTPRequestHandler):
    def do_PUT(self):
        if self.path.endswith("latest.json"):
            self.send_error(507, "Insufficient Storage")
        else:
            self.send_response(201)
            self.end_headers()


class S(socketserver.ThreadingMixIn, http.server.HTTPServer):
    daemon_threads = True


s = S(("127.0.0.1", 8092), H)
threading.Thread(target=s.serve_forever, daemon=True).start()
r = random.Random(79)
for n in range(2600):
    c = http.client.HTTPConnection(f"127.0.0.1", 8092, source_address=(f"127.0.0.{r.choice([2, 3, 4, 9])}", 0))
    x = r.random()
    method, path = "GET", f"/artefacts/nightly/build-{r.randint(0, 11):03d}.tar"
    if x < 0.2:
        method, path = "HEAD", "/artefacts/index.txt"
    elif x < 0.26:
        path = f"/artefacts/nightly/build-{r.choice([12, 13])}.tar"
    elif x < 0.29:
        method, path = "PUT", "/artefacts/nightly/report.txt"
    elif x < 0.295:
        method, path = "PUT", "/artefacts/latest.json"
    elif n == 1400:
        method, path = "DELETE", "/artefacts/nightly/build-003.tar"
    c.request(method, path, body="r" if method == "PUT" else None)
    c.getresponse().read()
    c.close()
