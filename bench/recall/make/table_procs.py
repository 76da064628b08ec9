#!/usr/bin/env python3
"""table_procs.py PLAN: starts many processes and sockets in its own namespaces, prints 'ready' and waits.

Run by table.sh inside new PID, mount and network namespaces.
"""
import ctypes
import os
import random
import socket
import sys
import time

plan = sys.argv[1]
rng = random.Random({"ps": 5, "ss": 6, "lsof": 7, "netstat": 8}[plan])


def title(text):
    """Sets the short name of this process."""
    name = text.split()[0].split("/")[-1][:15].encode()
    ctypes.CDLL(None).prctl(15, name, 0, 0, 0)


def spawn(argv, uid=0, work=None, code="sleep 900"):
    pid = os.fork()
    if pid:
        return pid
    if uid:
        os.setgid(uid)
        os.setuid(uid)
    if work:
        title(argv[0])
        work()
        os._exit(0)
    os.execv("/usr/bin/perl", ["perl", "-e", "$0 = shift; " + code, argv[0]])


if plan == "ps":
    for i in range(96):
        spawn(["nginx: worker process"], 33)
    for i in range(60):
        spawn([f"postgres: shop shop_prod 10.0.{rng.randrange(4)}.{rng.randrange(2, 250)}({rng.randrange(20000, 60000)}) {rng.choice(['idle', 'idle', 'idle', 'SELECT', 'idle in transaction'])}"], 34)
    for i in range(48):
        spawn([f"/srv/shop/.venv/bin/celery -A shop.worker worker --queue={rng.choice(['mail', 'stock', 'images', 'reports'])} --concurrency=1 --hostname=w{i}@shop"], 13)
    for i in range(30):
        spawn([f"/usr/bin/ssh -N -L {15000 + i}:db{i % 3}.internal:5432 tunnel@bastion.internal"])
    for i in range(5):
        spawn([f"rsync --server --sender -logDtpre.iLsfxC . /srv/shop/var/backup/part{i}"], 8)
    spawn(["/srv/shop/bin/image-resize --size 1200 --queue=nightly"], 13, code="1 while 1")
    spawn(["/srv/shop/bin/report-export --month 2025-02"], 33, code="my $b = 'x' x 734003200; sleep 900")
    for i in range(7):  # children that are not waited for: zombies
        if os.fork() == 0:
            title("thumbnailer")
            os._exit(0)
elif plan in ("ss", "netstat"):
    PORTS = {"ss": [80, 443, 5432, 6379, 9090], "netstat": [3000, 8443, 5672, 11211, 27017, 4040]}[plan]
    servers = {}
    held = []
    for p in PORTS:
        s = socket.socket()
        s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        s.bind(("127.0.0.1" if p in (6379, 27017, 9090) else "0.0.0.0", p))
        s.listen(512)
        servers[p] = s
    half = []
    for i in range(420 if plan == "ss" else 2600):
        p = rng.choices(PORTS, [30, 40, 20, 9, 1] if plan == "ss" else [20, 40, 15, 10, 14, 1])[0]
        c = socket.socket()
        c.bind((f"127.0.{rng.randrange(1, 5)}.{rng.randrange(2, 40)}", 0))
        c.connect(("127.0.0.1", p))
        a, _ = servers[p].accept()
        r = rng.random()
        if p == PORTS[2] and r < 0.35:
            c.close()           # the server never closes: CLOSE-WAIT
            held.append(a)
        elif r < 0.18:
            c.close()
            a.close()           # TIME-WAIT
        else:
            if r > 0.93:
                a.setblocking(False)
                try:
                    while True:
                        a.send(b"x" * 65536)
                except BlockingIOError:
                    pass
            held += [a, c]
elif plan == "lsof":
    os.makedirs("/srv/vault/data/segments", exist_ok=True)
    os.makedirs("/srv/vault/log", exist_ok=True)

    def worker(n):
        def work():
            keep = []
            for k in range(60 + n * 3):
                keep.append(open(f"/srv/vault/data/segments/{n:02d}-{k:05d}.seg", "w"))
            log = open(f"/srv/vault/log/worker-{n}.log", "a+")
            log.write("x" * (1000 * (n + 1)))
            log.flush()
            if n == 4:
                big = open("/srv/vault/log/compaction.tmp", "w")
                big.truncate(3_221_225_472)
                os.unlink("/srv/vault/log/compaction.tmp")
                keep.append(big)
            s = socket.socket()
            s.bind(("127.0.0.1", 7100 + n))
            s.listen()
            if n == 7:  # leaks sockets
                for _ in range(300):
                    keep.append(socket.socket())
            time.sleep(900)
        return work
    for n in range(24):
        spawn([f"vaultd-w{n}"], 13 if n % 3 else 34, worker(n))

time.sleep(15 if plan == "ps" else 3)
os.system("sh /srv/run.sh > /srv/out.txt 2>&1; echo $? > /srv/out.rc")
