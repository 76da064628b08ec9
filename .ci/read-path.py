"""What the calls of a team server cost, by two programs in turn, on one database.

    .ci/postgres run -- python3 .ci/read-path.py OLD NEW [ENTRIES]

OLD and NEW are programs `weir-server`. Needs the package `blake3` of PyPI. CPU time is that of the server, and of
PostgreSQL with all its processes, from /proc. Transactions and statements are counted in the log of PostgreSQL, in
calls of their own. The second table has the texts behind a stub of S3 that waits 15 ms before each answer.
"""

import asyncio
import http.client
import json
import multiprocessing
import os
import random
import re
import secrets
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.parse

from blake3 import blake3

PROGRAMS = {"old": os.path.abspath(sys.argv[1]), "new": os.path.abspath(sys.argv[2])}
ENTRIES = int(sys.argv[3]) if len(sys.argv) > 3 else 20_000
POSTGRES = urllib.parse.urlsplit(os.environ["WEIR_POSTGRES"])
PLACE = dict(urllib.parse.parse_qsl(POSTGRES.query))
DATABASE = f"postgresql:///weir?user=weir&host={PLACE['host']}&port={PLACE['port']}"
FOLDER = tempfile.mkdtemp(prefix="weir-read-path-")
TEXTS = f"{FOLDER}/texts"
DELAY = 0.015
PROJECT = "measured"
ROUNDS = 2
TICK = os.sysconf("SC_CLK_TCK")


def sql(statement):
    command = ["psql", "-qAtc", statement, os.environ["WEIR_POSTGRES"]]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()


def cpu(pid, with_children=False):
    """Returns the CPU time of a process so far, in milliseconds. That of children that have ended counts too."""
    while True:
        try:
            fields = open(f"/proc/{pid}/stat", encoding="utf-8").read().rsplit(")", 1)[1].split()
            children = []
            if with_children:
                children = open(f"/proc/{pid}/task/{pid}/children", encoding="utf-8").read().split()
            return sum(map(int, fields[11:15])) * 1000 / TICK + sum(cpu(child) for child in children)
        except FileNotFoundError:
            # A child has ended in between, and counts as its parent's from now on.
            if not with_children:
                raise


POSTMASTER = int(open(f"{PLACE['host']}/data/postmaster.pid", encoding="utf-8").readline())


# A stub of S3.


async def answer(reader, writer):
    while head := await reader.readuntil(b"\r\n\r\n"):
        lines = head.decode().split("\r\n")
        method, path, _ = lines[0].split(" ")
        headers = {name.lower(): value for name, value in (line.split(": ", 1) for line in lines[1:] if line)}
        body = await reader.readexactly(int(headers.get("content-length", 0)))
        await asyncio.sleep(DELAY)
        file = f"{TEXTS}/{path.split('/', 2)[2]}"
        status, extra, content = "200 OK", "", b""
        if method == "PUT" and os.path.exists(file) and "if-none-match" in headers:
            status = "412 Precondition Failed"
        elif method == "PUT":
            os.makedirs(os.path.dirname(file), exist_ok=True)
            open(file, "wb").write(body)
        elif not os.path.exists(file):
            status = "404 Not Found"
        else:
            content = open(file, "rb").read()
            size = len(content)
            if "range" in headers:
                first, last = headers["range"].removeprefix("bytes=").split("-")
                start = int(first) if first else max(0, size - int(last))
                content = content[start:int(last) + 1 if first else size]
                status = "206 Partial Content"
                extra = f"Content-Range: bytes {start}-{start + len(content) - 1}/{size}\r\n"
        writer.write(f"HTTP/1.1 {status}\r\nContent-Length: {len(content)}\r\nETag: \"1\"\r\n"
                     f"Last-Modified: Thu, 01 Jan 2026 00:00:00 GMT\r\n{extra}\r\n".encode())
        if method != "HEAD":
            writer.write(content)
        await writer.drain()


def serve_objects(pipe):
    async def run():
        async def each(reader, writer):
            try:
                await answer(reader, writer)
            except (asyncio.IncompleteReadError, ConnectionError):
                writer.close()
        server = await asyncio.start_server(each, "127.0.0.1", 0)
        pipe.send(server.sockets[0].getsockname()[1])
        await server.serve_forever()
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    asyncio.run(run())


# The servers and their calls.


def command(program, *arguments):
    done = subprocess.run([program, *arguments, "--json"], check=True, capture_output=True, text=True)
    return json.loads(done.stdout)


class Server:
    """A server that runs, and what it is asked."""

    def __init__(self, program, data, texts, environment=None):
        arguments = ["serve", "--data", data, "--database", DATABASE, "--texts", texts, "--copy-index", "0",
                     "--bind", "127.0.0.1:0"]
        self.process = subprocess.Popen([PROGRAMS[program], *arguments], stdout=subprocess.PIPE, text=True,
                                        stderr=subprocess.STDOUT, env={**os.environ, **(environment or {})})
        while not (found := re.search(r"http://([0-9.]+:\d+)", line := self.process.stdout.readline())):
            if not line:
                raise SystemExit(f"error: the server `{program}` does not start")
        self.connection = http.client.HTTPConnection(found[1], timeout=600)
        self.asked = 0

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.connection.close()
        self.process.terminate()
        self.process.wait()

    def ask(self, method, path, body=None):
        # A token may make 50 requests a second.
        self.asked += 1
        headers = {"Authorization": f"Bearer {TOKENS[self.asked % len(TOKENS)]}", "Content-Type": "application/json"}
        self.connection.request(method, path, None if body is None else json.dumps(body), headers)
        response = self.connection.getresponse()
        text = response.read()
        if response.status not in (200, 201):
            raise SystemExit(f"error: {method} {path} gave {response.status}: {text[:500]}")
        return json.loads(text)

    def search(self, query, limit=10):
        return self.ask("POST", "/v1/search", {"project": PROJECT, "query": query, "limit": limit})

    def read(self, after, limit):
        return self.ask("GET", f"/v1/sync/records?project={PROJECT}&after={after}&limit={limit}")

    def upload(self, count):
        records, texts = [], {}
        for _ in range(count):
            record, key, text = note()
            records.append(record)
            texts[key] = text
        return self.ask("POST", "/v1/sync/records", {"project": PROJECT, "records": records, "texts": texts})

    def catch_up(self):
        while self.search("common")["behind"]:
            pass


HOST = secrets.token_hex(16)
WORDS = [f"word{number}" for number in range(5_000)]
written = 0


def note():
    """Returns a new record with its text. Every one has the word `common`, a word of its own, and one in ten a topic."""
    global written
    number, written = written, written + 1
    text = f"common only{HOST[:6]}x{number} " + " ".join(random.choices(WORDS, k=60))
    key = blake3(text.encode()).hexdigest()
    topic = f"topic {number // 10}" if number % 10 == 0 else None
    fields = {"kind": "finding", "topic": topic, "files": [], "commit": None, "branch": None}
    kept = {"reference": "".join(random.choices("0123456789abcdefghjkmnpqrstvwxyz", k=10)), "kind": "note",
            "origin": "model", "title": f"note {number}", "source": None, "note": fields, "text": key,
            "bytes": len(text)}
    record = {"format": 1, "id": f"{HOST}-{number}", "time": {"millis": int(time.time() * 1000), "count": 0},
              "tenant": "team", "project": PROJECT, "author": {"user": "ana", "client": ""}, "audience": "team",
              "body": {"kept": kept}}
    return record, key, text


def calls(server, head):
    rare = [f"only{HOST[:6]}x{number}" for number in random.sample(range(ENTRIES), 500)]
    return {
        "who am I": (100, lambda: server.ask("GET", "/v1/me")),
        "nothing new": (100, lambda: server.read(head, 500)),
        "search, 10 hits": (60, lambda: server.search(f"common {random.choice(WORDS)}")),
        "search, 1 hit": (60, lambda: server.search(rare.pop(), 1)),
        "page of 500": (8, lambda: server.read(random.randrange(max(1, ENTRIES - 500)), 500)),
        "note": (20, lambda: server.ask("POST", "/v1/notes", {"project": PROJECT, "text": f"c {random.random()}"})),
        "upload of 20": (10, lambda: server.upload(20)),
        "upload of 200": (4, lambda: server.upload(200)),
    }


def measure(server, call, times):
    """Returns server and PostgreSQL milliseconds of CPU time for one call, and the median of the wall clock."""
    call()
    before = cpu(server.process.pid), cpu(POSTMASTER, True)
    walls = []
    for _ in range(times):
        begun = time.perf_counter()
        call()
        walls.append((time.perf_counter() - begun) * 1000)
    # What is indexed in the background belongs to the call.
    server.catch_up() if times <= 20 else None
    after = cpu(server.process.pid), cpu(POSTMASTER, True)
    return (after[0] - before[0]) / times, (after[1] - before[1]) / times, statistics.median(walls)


def count(server, call, times=4):
    """Returns how many transactions and statements one call takes, by the log of PostgreSQL."""
    call()
    log = f"{PLACE['host']}/log"
    sql("ALTER SYSTEM SET log_min_duration_statement = 0")
    sql("SELECT pg_reload_conf()")
    time.sleep(0.5)
    at = os.path.getsize(log)
    for _ in range(times):
        call()
    time.sleep(0.5)
    with open(log, encoding="utf-8", errors="replace") as file:
        file.seek(at)
        said = file.read()
    sql("ALTER SYSTEM RESET log_min_duration_statement")
    sql("SELECT pg_reload_conf()")
    begun = len(re.findall(r"statement: BEGIN", said))
    return begun / times, len(re.findall(r"ms  execute ", said)) / times


def table(title, columns, rows):
    print(f"\n{title}\n\n| call | " + " | ".join(columns) + " |\n|" + " --- |" * (len(columns) + 1))
    for name, cells in rows.items():
        print(f"| {name} | " + " | ".join(cells) + " |")


def main():
    global TOKENS
    sql("CREATE ROLE weir LOGIN CREATEROLE")
    sql("CREATE DATABASE weir OWNER weir")
    command(PROGRAMS["old"], "init", "ana", "--database", DATABASE)
    command(PROGRAMS["new"], "init", "ana", "--database", DATABASE)
    TOKENS = [command(PROGRAMS["new"], "invite", "ana", "--database", DATABASE)["token"] for _ in range(20)]
    with Server("new", f"{FOLDER}/new", TEXTS) as server:
        begun = time.perf_counter()
        while written < ENTRIES:
            server.upload(200)
        server.catch_up()
        print(f"{written} entries in {time.perf_counter() - begun:.0f} s", flush=True)
        head = server.read(0, 1)["head"]
    sql("VACUUM ANALYZE")
    subprocess.run(["psql", "-qAtc", "VACUUM ANALYZE", DATABASE.replace("user=weir", "user=postgres")], check=True)
    shutil.copytree(f"{FOLDER}/new", f"{FOLDER}/old")

    # The texts in a folder: CPU time and counts.
    found = {}
    for round_of in range(ROUNDS):
        for program in PROGRAMS:
            with Server(program, f"{FOLDER}/{program}", TEXTS) as server:
                server.catch_up()
                head = server.read(0, 1)["head"]
                for name, (times, call) in calls(server, head).items():
                    found.setdefault((name, program), []).append(measure(server, call, times))
                    if round_of == 0:
                        server.catch_up()
                        found[name, program, "count"] = count(server, call)
                        head = server.read(0, 1)["head"]
    rows = {}
    for name in {key[0]: None for key in found}:
        cells = []
        for program in PROGRAMS:
            server_ms, postgres_ms, _ = (statistics.mean(one) for one in zip(*found[name, program]))
            transactions, statements = found[name, program, "count"]
            cells += [f"{transactions:.0f} / {statements:.0f}", f"{server_ms:.1f}", f"{postgres_ms:.1f}"]
        rows[name] = cells
    measured = ("transactions / statements", "server ms", "PostgreSQL ms")
    columns = [f"{program}: {what}" for program in PROGRAMS for what in measured]
    table(f"{head} records, texts in a folder, CPU time", columns, rows)

    # The texts 15 ms away: the time that somebody waits.
    ours, theirs = multiprocessing.Pipe()
    stub = multiprocessing.Process(target=serve_objects, args=(theirs,), daemon=True)
    stub.start()
    s3 = {"AWS_ENDPOINT_URL": f"http://127.0.0.1:{ours.recv()}", "AWS_ACCESS_KEY_ID": "a", "AWS_SECRET_ACCESS_KEY": "b"}
    waited = {}
    for program in PROGRAMS:
        with Server(program, f"{FOLDER}/{program}", "s3://texts", s3) as server:
            server.catch_up()
            head = server.read(0, 1)["head"]
            for name, (times, call) in calls(server, head).items():
                waited.setdefault((name, program), []).append(measure(server, call, min(times, 5))[2])
    for program in PROGRAMS:
        with Server(program, f"{FOLDER}/{program}-empty", "s3://texts", s3) as server:
            total, begun = server.read(0, 1)["head"], time.perf_counter()
            # A part of them tells the rate, if the server is slow.
            while (behind := server.search("common")["behind"]) and time.perf_counter() - begun < 40:
                pass
            rate = (total - behind) / (time.perf_counter() - begun)
            waited["indexing, records/s", program] = [rate]
    stub.terminate()
    rows = {name: [f"{statistics.mean(waited[name, program]):.0f}" for program in PROGRAMS]
            for name in {key[0]: None for key in waited}}
    table("Texts 15 ms away, wall clock, median in ms", PROGRAMS, rows)


try:
    main()
finally:
    shutil.rmtree(FOLDER, ignore_errors=True)
