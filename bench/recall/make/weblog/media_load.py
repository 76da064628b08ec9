"""The visitors of the media library."""
import http.client, random

r = random.Random(151)
agents = ["Mozilla/5.0 (Macintosh; Intel Mac OS X 15_1) Safari/618.2", "Mozilla/5.0 (Windows NT 10.0; Win64; x64) Chrome/141.0", "feedfetch/2.0 (+https://reader.example.org)", "album-sync/0.8"]
for n in range(4200):
    path, method = r.choices([(f"/thumb/{r.randint(1, 4200)}.webp", "GET"), ("/albums?page=" + str(r.randint(1, 9)), "GET"), (f"/video/{r.randint(1, 40)}.mp4", "GET"), ("/upload", "POST"), ("/feed.xml", "GET"), ("/transcode", "POST"), ("/albums/77/export", "GET"), ("/login", "POST")], [60, 18, 2, 5, 8, 4, 0.4, 3])[0]
    if path.startswith("/thumb/") and n % 40 == 0:
        path = f"/thumb/{r.randint(1, 42)}00.webp"
    c = http.client.HTTPConnection("127.0.0.1", 8094, timeout=5)
    agent = agents[2] if path == "/feed.xml" else r.choices(agents, [5, 6, 0, 2])[0]
    user = "203.0.113.250" if n % 5 == 0 else f"203.0.113.{r.randint(2, 90)}"
    if n == 3333:
        path, method, user = "/albums/12", "DELETE", "203.0.113.8"
    c.request(method, path, headers={"X-Forwarded-For": user, "User-Agent": agent, "X-N": str(n)})
    c.getresponse().read()
    c.close()
