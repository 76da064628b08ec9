"""failover.py WEIR FOLDER: the run of .ci/failover, which installs what this needs."""

import collections
import ctypes
import glob
import http.client
import json
import os
import secrets
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time

WEIR, FOLDER = sys.argv[1:3]
POOL = os.environ.get("WEIR_FAILOVER_POOL", "transaction")
SECONDS = float(os.environ.get("WEIR_FAILOVER_SECONDS", "10"))
PROGRAMS = sorted(glob.glob("/usr/lib/postgresql/*/bin"), key=lambda path: int(path.split("/")[4]))[-1]
# Patroni's own defaults are 30, 10 and 10. These are the shortest that its documentation allows for `ttl`.
TTL, LOOP_WAIT, RETRY_TIMEOUT = 20, 5, 5
NODES = ["pg1", "pg2", "pg3"]
WORKERS = 6
PAUSE_SECONDS = 0.25
PR_SET_CHILD_SUBREAPER = 36
PROJECT = "failover"
PASSWORD = secrets.token_hex(16)
AS_POSTGRES = ["--reuid", "postgres", "--regid", "postgres", "--init-groups"] if os.getuid() == 0 else []
started = {}


def fail(reason):
    raise SystemExit(f"error: {reason}")


def free_port():
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


def start(name, command, user=AS_POSTGRES, env=None):
    """Starts a process that is killed if this one dies, with its output in NAME.log."""
    with open(f"{FOLDER}/{name}.log", "ab") as log:
        full = ["setpriv", "--pdeathsig", "KILL", *user, *command]
        started[name] = subprocess.Popen(full, stdout=log, stderr=log, stdin=subprocess.DEVNULL, cwd=FOLDER,
                                         env={**os.environ, **(env or {})})
    return started[name]


def run(command, user=AS_POSTGRES, env=None):
    full = ["setpriv", *user, *command]
    done = subprocess.run(full, capture_output=True, text=True, cwd=FOLDER, env={**os.environ, **(env or {})})
    if done.returncode:
        fail(f"`{' '.join(command)}` ended with {done.returncode}:\n{done.stdout}{done.stderr}")
    return done.stdout.strip()


def write(name, text, mode=0o644):
    path = f"{FOLDER}/{name}"
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)
    os.chmod(path, mode)
    if AS_POSTGRES:
        shutil.chown(path, "postgres", "postgres")
    return path


def wait_for(what, ask, seconds=90):
    """Asks until there is an answer."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        try:
            if (answer := ask()):
                return answer
        except (OSError, http.client.HTTPException, ValueError):
            pass
        time.sleep(0.1)
    fail(f"{what}: not within {seconds} s")


def fetch(port, path, method="GET", body=None, token=None, timeout=60, key=None):
    """One request on a connection of its own: the status and the JSON of the answer, if it is JSON."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=timeout)
    try:
        headers = {"Authorization": f"Bearer {token}"} if token else {}
        headers |= {"Idempotency-Key": key} if key else {}
        connection.request(method, path, None if body is None else json.dumps(body), headers)
        answer = connection.getresponse()
        text = answer.read().decode()
        return answer.status, json.loads(text) if text.startswith("{") else text
    finally:
        connection.close()


def reap():
    """Collects postmasters that were killed. Patroni takes one that nobody has collected for alive."""
    while True:
        with open(f"/proc/{os.getpid()}/task/{os.getpid()}/children", encoding="utf-8") as file:
            children = set(map(int, file.read().split())) - {process.pid for process in list(started.values())}
        for pid in children:
            try:
                with open(f"/proc/{pid}/stat", encoding="utf-8") as file:
                    if "(postgres) Z" in file.read():
                        os.waitpid(pid, os.WNOHANG)
            except OSError:
                pass
        time.sleep(0.2)


# The cluster.

ports = {}


def backrest(node):
    return {"PGBACKREST_CONFIG": f"{FOLDER}/{node}.backrest"}


def configure(node):
    ports[node], ports[f"{node}-api"] = free_port(), free_port()
    write(f"{node}.backrest", f"[global]\nrepo1-path={FOLDER}/repository\nrepo1-retention-full=2\nlog-level-file=off\n"
          f"lock-path={FOLDER}/{node}.lock\nstart-fast=y\n[weir]\npg1-path={FOLDER}/{node}\n"
          f"pg1-port={ports[node]}\npg1-socket-path={FOLDER}\npg1-user=postgres\n")
    api = f"127.0.0.1:{ports[f'{node}-api']}"
    user = {"superuser": "postgres", "replication": "replicator", "rewind": "rewinder"}
    settings = {
        "scope": "weir", "name": node,
        "restapi": {"listen": api, "connect_address": api},
        "etcd3": {"host": f"127.0.0.1:{ports['etcd']}"},
        "bootstrap": {
            "dcs": {
                "ttl": TTL, "loop_wait": LOOP_WAIT, "retry_timeout": RETRY_TIMEOUT, "synchronous_mode": True,
                "maximum_lag_on_failover": 1048576,
                "postgresql": {"use_pg_rewind": True, "parameters": {
                    "max_connections": 150, "archive_mode": "on", "archive_timeout": 60,
                    "archive_command": "pgbackrest --stanza=weir archive-push %p"}},
            },
            "initdb": [{"encoding": "UTF8"}, {"locale": "C"}, "data-checksums"],
        },
        "postgresql": {
            "listen": f"127.0.0.1:{ports[node]}", "connect_address": f"127.0.0.1:{ports[node]}",
            "data_dir": f"{FOLDER}/{node}", "bin_dir": PROGRAMS, "pgpass": f"{FOLDER}/{node}.pgpass",
            "authentication": {role: {"username": name, "password": PASSWORD} for role, name in user.items()},
            "parameters": {"unix_socket_directories": FOLDER},
            "pg_hba": ["local all all trust", "host all all 127.0.0.1/32 scram-sha-256",
                       "host replication all 127.0.0.1/32 scram-sha-256"],
        },
    }
    # JSON is YAML too.
    write(f"{node}.yml", json.dumps(settings, indent=1), 0o600)


def start_node(node):
    return start(node, ["patroni", f"{FOLDER}/{node}.yml"], env=backrest(node))


def members():
    for node in NODES:
        try:
            return fetch(ports[f"{node}-api"], "/cluster", timeout=2)[1]["members"]
        except (OSError, http.client.HTTPException):
            continue
    return []


def is_complete(count):
    states = [(one["role"], one["state"]) for one in members()]
    replicas = [state for role, state in states if role in ("sync_standby", "replica")]
    streaming = [state for state in replicas if state in ("running", "streaming")]
    return ("leader", "running") in states and "sync_standby" in dict(states) and len(streaming) == count - 1


def primary():
    return next(one["name"] for one in members() if one["role"] == "leader")


def sql(statement, port=None, database="postgres"):
    return run([f"{PROGRAMS}/psql", "-h", FOLDER, "-p", str(port or ports[primary()]), "-U", "postgres", "-d", database,
                "-AtqX", "-v", "ON_ERROR_STOP=1", "-c", statement])


def start_front():
    """HAProxy, which finds the primary by Patroni's API, and PgBouncer before it."""
    ports["haproxy"], ports["pgbouncer"] = free_port(), free_port()
    servers = "".join(f" server {node} 127.0.0.1:{ports[node]} check port {ports[f'{node}-api']}\n" for node in NODES)
    start("haproxy", ["haproxy", "-db", "-f", write("haproxy.cfg", "defaults\n mode tcp\n timeout connect 3s\n"
          " timeout client 30m\n timeout server 30m\n"
          f"listen primary\n bind 127.0.0.1:{ports['haproxy']}\n option httpchk GET /primary\n"
          " http-check expect status 200\n default-server inter 1s fall 2 rise 1 on-marked-down shutdown-sessions\n"
          f"{servers}")])
    write("users", f'"weir" "{PASSWORD}"\n', 0o600)
    start("pgbouncer", ["pgbouncer", write("pgbouncer.ini", "[databases]\n"
          f"weir = host=127.0.0.1 port={ports['haproxy']} dbname=weir\n[pgbouncer]\nlisten_addr = 127.0.0.1\n"
          f"listen_port = {ports['pgbouncer']}\nunix_socket_dir =\nauth_type = scram-sha-256\n"
          f"auth_file = {FOLDER}/users\n"
          f"pool_mode = {POOL}\ndefault_pool_size = 40\nmax_client_conn = 200\nserver_connect_timeout = 3\n"
          "server_login_retry = 1\nquery_wait_timeout = 10\nserver_check_delay = 0\nserver_check_query = select 1\n")])


def address(part):
    pooler = "?pooler=transaction" if part == "pgbouncer" and POOL == "transaction" else ""
    return f"postgresql://weir:{PASSWORD}@127.0.0.1:{ports[part]}/weir{pooler}"


def serve(name, part, texts):
    """Starts a team server, and returns its port."""
    write(f"{name}.url", address(part), 0o600)
    command = [WEIR, "serve", "--bind", "127.0.0.1:0", "--data", f"{FOLDER}/{name}", "--texts", texts,
               "--database", f"@{FOLDER}/{name}.url"]
    process = start(name, command, user=[])

    def listening():
        if process.poll() is not None:
            fail(f"`weir serve` ended: {open(f'{FOLDER}/{name}.log', encoding='utf-8').read()}")
        with open(f"{FOLDER}/{name}.log", encoding="utf-8") as log:
            return [line.rsplit(":", 1)[1] for line in log if "listening on" in line and line.endswith("\n")]
    return int(wait_for(name, listening)[0])


def team(*arguments):
    return run([WEIR, *arguments, "--database", address("haproxy")], user=[])


# The load.

class Load:
    """Clients that write without a pause and repeat what was not acknowledged, as `weir` does with an upload."""

    def __init__(self, servers, tokens):
        self.servers, self.tokens, self.stopped = servers, tokens, threading.Event()
        self.acknowledged = []  # (when, id, sort)
        self.answers = collections.Counter()
        self.wrong = []
        self.lock, self.threads = threading.Lock(), []

    def start(self):
        self.threads = [threading.Thread(target=self.work, args=(number,)) for number in range(WORKERS)]
        for thread in self.threads:
            thread.start()

    def stop(self):
        self.stopped.set()
        for thread in self.threads:
            thread.join()

    def send(self, number, path, body):
        """Sends until it is acknowledged, and returns the answer, or None if the load ends."""
        attempt, key = number, secrets.token_hex(16)
        while not self.stopped.is_set():
            try:
                server = self.servers[attempt % len(self.servers)]
                status, answer = fetch(server, path, "POST", body, self.tokens[number], key=key)
            except (OSError, http.client.HTTPException) as error:
                status, answer = type(error).__name__, None
            with self.lock:
                self.answers[status] += 1
            if status in (200, 201):
                return answer
            if status not in (429, 503) and not isinstance(status, str):
                self.wrong.append(f"{path} was answered with {status}: {answer}")
            attempt += 1
            time.sleep(PAUSE_SECONDS)
        return None

    def work(self, number):
        host, index = secrets.token_hex(16), 0
        while not self.stopped.is_set():
            if number % 2:
                text = f"Note {index} of worker {number} in {host}"
                answer = self.send(number, "/v1/notes", {"project": PROJECT, "text": text})
                done = [(answer["id"], "note")] if answer else []
            else:
                body, ids = upload(host, index, f"user{number}")
                done = [(one, "upload") for one in ids] if self.send(number, "/v1/sync/records", body) else []
            with self.lock:
                self.acknowledged.extend((time.monotonic(), *one) for one in done)
            index += 10

    def gap(self, since):
        """The longest time without an acknowledged write after a moment."""
        times = [since, *sorted(at for at, *_ in self.acknowledged if at > since)]
        return max((later - earlier for earlier, later in zip(times, times[1:])), default=float("inf"))


sample = {}


def upload(host, index, user):
    """Ten records with the text of the first note, whose hash the server has computed."""
    kept = sample["record"]["body"]["kept"]
    records = []
    for number in range(index, index + 10):
        body = {"kept": {**kept, "title": f"Record {number} of {host}"}}
        records.append({**sample["record"], "id": f"{host}-{number}", "author": {"user": user, "client": "failover"},
                        "body": body})
    texts = {kept["text"]: sample["text"]}
    return {"project": PROJECT, "records": records, "texts": texts}, [one["id"] for one in records]


def download(port, token):
    """Everything in the log, by id, and the texts that cannot be read."""
    records, missing, after = {}, [], 0
    while True:
        path = f"/v1/sync/records?project={PROJECT}&after={after}&limit=500"
        status, batch = fetch(port, path, token=token)
        if status != 200:
            fail(f"the download was answered with {status}: {batch}")
        for one in batch["records"]:
            if one["record"]["id"] in records:
                fail(f"record {one['record']['id']} is there twice")
            records[one["record"]["id"]] = one["record"]
        missing += batch.get("missing_texts", [])
        after = batch["next"]
        if not batch["more"]:
            return records, missing


# The run.

def processes_of(node):
    """The postmaster of a node and everything below it."""
    with open(f"{FOLDER}/{node}/postmaster.pid", encoding="utf-8") as file:
        postmaster = int(file.readline())
    with open(f"/proc/{postmaster}/task/{postmaster}/children", encoding="utf-8") as file:
        return [postmaster, *map(int, file.read().split())]


def kill(pids):
    for pid in pids:
        try:
            os.kill(pid, signal.SIGKILL)
        except ProcessLookupError:
            pass


def event(load, what, act):
    """Does something to the primary under load, and returns a row of the table."""
    before, old = collections.Counter(load.answers), primary()
    at = time.monotonic()
    act(old)
    deadline = at + 120
    while time.monotonic() < deadline and not any(one > at + 1.5 * TTL for one, *_ in load.acknowledged):
        time.sleep(0.2)
    time.sleep(SECONDS)
    seen = dict(sorted((load.answers - before).items(), key=str))
    answers = ", ".join(f"{count} x {status}" for status, count in seen.items())
    return [what, f"{old} -> {primary()}", f"{load.gap(at):.1f} s", answers]


def lose_node(node):
    started[node].kill()
    kill(processes_of(node))


def start_cluster():
    ports["etcd"], peer = free_port(), free_port()
    url, peer_url = f"http://127.0.0.1:{ports['etcd']}", f"http://127.0.0.1:{peer}"
    start("etcd", ["etcd", "--data-dir", f"{FOLDER}/etcd", "--listen-client-urls", url, "--advertise-client-urls", url,
                   "--listen-peer-urls", peer_url, "--initial-advertise-peer-urls", peer_url,
                   "--initial-cluster", f"default={peer_url}"])
    wait_for("etcd", lambda: fetch(ports["etcd"], "/health")[0] == 200)
    for node in NODES:
        configure(node)
        start_node(node)
    wait_for("the cluster", lambda: is_complete(len(NODES)))
    start_front()
    wait_for("haproxy", lambda: socket.create_connection(("127.0.0.1", ports["haproxy"]), 2).close() or True)
    sql(f"CREATE ROLE weir LOGIN CREATEROLE PASSWORD '{PASSWORD}'")
    sql("CREATE DATABASE weir OWNER weir ENCODING 'UTF8' TEMPLATE template0")
    node = primary()
    run(["pgbackrest", "--stanza=weir", "stanza-create"], env=backrest(node))
    run(["pgbackrest", "--stanza=weir", "--type=full", "backup"], env=backrest(node))


def check(load, records, missing, rows):
    lost = [one for _, one, _ in load.acknowledged if one not in records]
    titles = collections.Counter(record["body"]["kept"]["title"] for record in records.values())
    twice = sum(count - 1 for count in titles.values())
    extra = len(records) - len({one for _, one, _ in load.acknowledged}) - 1
    rows += [["acknowledged records", str(len(load.acknowledged))], ["of these lost", str(len(lost))],
             ["texts that cannot be read", str(len(missing))],
             ["stored, not acknowledged when the load ended or before a retry", str(extra)],
             ["notes stored twice by a retry", str(twice)]]
    rows += [["answers besides 200, 201, 429 and 503", one] for one in load.wrong[:10]]
    return lost or missing or twice or load.wrong


def restore(token, texts, rows):
    """Restores to a moment between two batches of notes, and looks at the result through a server."""
    port = started_ports["server1"]

    def notes(word):
        made = [fetch(port, "/v1/notes", "POST", {"project": PROJECT, "text": f"Note {number} {word}"}, token)
                for number in range(50)]
        if any(status != 201 for status, _ in made):
            fail(f"a note was refused: {made}")
        return {answer["id"] for _, answer in made}
    earlier = set(download(port, token)[0]) | notes("before the target")
    time.sleep(1.1)
    target = sql("SELECT clock_timestamp()")
    time.sleep(1.1)
    later = notes("after the target")
    segment = sql("SELECT pg_walfile_name(pg_switch_wal())")
    wait_for("the archive", lambda: sql("SELECT last_archived_wal FROM pg_stat_archiver") >= segment)
    begun = time.monotonic()
    # What is restored has no cluster: it gets a port, and forgets Patroni's settings.
    ports["restored"] = free_port()
    shutil.copyfile(f"{FOLDER}/{primary()}.backrest", f"{FOLDER}/restored.backrest")
    run(["pgbackrest", "--stanza=weir", f"--pg1-path={FOLDER}/restored", "--type=time", f"--target={target}",
         "--target-action=promote", "restore"], env=backrest("restored"))
    write("restored/postgresql.conf", f"port = {ports['restored']}\nlisten_addresses = '127.0.0.1'\n"
          f"unix_socket_directories = '{FOLDER}'\nmax_connections = 150\n")
    write("restored/pg_hba.conf", "local all all trust\nhost all all 127.0.0.1/32 scram-sha-256\n")
    start("restored", [f"{PROGRAMS}/postgres", "-D", f"{FOLDER}/restored"], env=backrest("restored"))
    ready = [f"{PROGRAMS}/pg_isready", "-q", "-h", FOLDER, "-p", str(ports["restored"])]
    wait_for("the restored instance", lambda: subprocess.run(ready, check=False).returncode == 0)
    wait_for("its promotion", lambda: sql("SELECT pg_is_in_recovery()", ports["restored"]) == "f")
    seconds = time.monotonic() - begun
    shutil.copytree(texts, f"{FOLDER}/restored-texts")
    restored = serve("restored-server", "restored", f"{FOLDER}/restored-texts")
    records, missing = download(restored, token)
    found = {"behind": 1}
    while found["behind"]:
        status, found = fetch(restored, "/v1/search", "POST", {"project": PROJECT, "query": "before target"}, token)
        if status != 200:
            fail(f"the search was answered with {status}: {found}")
    lost, kept = earlier - set(records), later & set(records)
    rows += [["restored, until it takes writes", f"{seconds:.1f} s"],
             ["records before the target, of these lost", f"{len(earlier)}, {len(lost)}"],
             ["records after the target, of these there", f"{len(later)}, {len(kept)}"],
             ["texts that cannot be read there", str(len(missing))],
             ["search there, by an index made from nothing", f"{len(found['hits'])} hits"]]
    return lost or kept or missing or not found["hits"]


started_ports = {}


def main():
    if AS_POSTGRES:
        shutil.chown(FOLDER, "postgres", "postgres")
    # What loses its parent becomes a child of this process.
    ctypes.CDLL(None, use_errno=True).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    threading.Thread(target=reap, daemon=True).start()
    start_cluster()
    admin = team("init", "admin")
    tokens = [team("invite", f"user{number}") for number in range(WORKERS)]
    texts = f"{FOLDER}/texts"
    for name in ("server1", "server2"):
        started_ports[name] = serve(name, "pgbouncer", texts)
    servers = list(started_ports.values())
    sample["text"] = "The text of every record."
    fetch(servers[0], "/v1/notes", "POST", {"project": PROJECT, "text": sample["text"]}, admin)
    first, _ = download(servers[0], admin)
    sample["record"] = next(iter(first.values()))
    load = Load(servers, tokens)
    load.start()
    try:
        time.sleep(SECONDS)
        calm = [f"{len(load.acknowledged) / SECONDS:.0f} records/s"]
        table = [event(load, "kill -9 of the postmaster", lambda node: kill(processes_of(node)[:1])),
                 event(load, "loss of the node", lose_node)]
        start_node(table[-1][1].split()[0])
        wait_for("the lost node's return", lambda: is_complete(len(NODES)), 120)
    finally:
        load.stop()
    rows = [["load before the kills", *calm]]
    bad = [check(load, *download(servers[1], admin), rows), restore(admin, texts, rows)]
    print(f"Patroni: ttl {TTL}, loop_wait {LOOP_WAIT}, retry_timeout {RETRY_TIMEOUT}; PgBouncer: {POOL} mode\n")
    print("| event | primary | longest time without an acknowledged write | answers from the event on |")
    print("| --- | --- | --- | --- |")
    for row in table:
        print(f"| {' | '.join(row)} |")
    print("\n| figure | |\n| --- | --- |")
    for row in rows:
        print(f"| {' | '.join(row)} |")
    if any(bad):
        fail("something was lost, or something is there that must not be")


def stop():
    """Ends everything that was started: what talks first, then Patroni, which ends its PostgreSQL."""
    for name in sorted(started, key=lambda one: (one in NODES, one == "etcd")):
        if started[name].poll() is None:
            started[name].terminate() if name != "restored" else started[name].send_signal(signal.SIGINT)
    for name, process in started.items():
        try:
            process.wait(20)
        except subprocess.TimeoutExpired:
            process.kill()
    for node in NODES:
        if os.path.exists(f"{FOLDER}/{node}/postmaster.pid"):
            kill(processes_of(node))


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    try:
        main()
    finally:
        stop()
