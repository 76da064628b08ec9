#!/usr/bin/env python3
"""Stand-in services used by deploy.sh: status JSON, migration log, health checks (fixed seed)."""
import json
import random
import sys

what = sys.argv[1]
clock = lambda s: f"{s // 3600:02d}:{s // 60 % 60:02d}:{s % 60:02d}"
rng = random.Random(64)
HOSTS = [f"web-{n:02d}" for n in range(1, 13)] + [f"worker-{n:02d}" for n in range(1, 9)]
if what == "inventory":
    print(json.dumps({"cluster": "shop-prod", "release": "2025.03.2", "previous": "2025.03.1",
                      "hosts": [{"name": h, "zone": rng.choice(["a", "b", "c"]), "cpu": rng.choice([4, 8]), "memory_mb": rng.choice([8192, 16384]),
                                 "release": "2025.02.7" if h == "worker-05" else "2025.03.1", "labels": {"tier": h.split("-")[0], "canary": h == "web-01"}} for h in HOSTS]}, indent=2))
elif what == "upload":
    for h in HOSTS:
        for part in ["app.tar", "assets.tar", "config.tar"]:
            size = {"app.tar": 48.3, "assets.tar": 112.9, "config.tar": 0.2}[part]
            print(f"[upload] {h}: {part} {size} MB in {rng.uniform(0.4, 9):.1f} s" + (" (retried 2 times)" if h == "web-07" and part == "assets.tar" else ""))
elif what == "migrate":
    for n in range(181, 220):
        ms = rng.randint(4, 900)
        if n == 204:
            ms = 48213
        print(f"[migrate] {n:04d}_{rng.choice(['add', 'drop', 'alter', 'backfill'])}_{rng.choice(['orders', 'stock', 'users', 'coupons'])} ok {ms} ms")
        if n % 9 == 0:
            print("[migrate] NOTICE: index already exists, skipping")
elif what == "logs":
    for n in range(9000):
        level, msg = "info", f"GET /{rng.choice(['', 'cart', 'search', 'api/orders', 'api/stock'])} {rng.choice([200, 200, 200, 200, 304, 404])} {rng.randint(2, 240)}ms"
        if n > 5200 and rng.random() < 0.03:
            level, msg = "error", f"POST /api/checkout 500 {rng.randint(900, 3000)}ms error=\"relation \\\"coupon_usage\\\" does not exist\""
        elif rng.random() < 0.02:
            level, msg = "warn", f"slow query {rng.randint(1100, 4000)}ms table=orders"
        print(f"{clock(10960 + n * 240 // 9000)} web-01 {level} {msg}")
elif what == "health":
    print(f"{'HOST':<12}{'RELEASE':<12}{'STATUS':<12}{'RPS':>6}{'P95_MS':>8}{'ERR_MIN':>8}")
    bad = 0
    for h in HOSTS:
        new = h == "web-01"
        err = 31 if new else rng.choice([0, 0, 0, 1])
        bad += new
        print(f"{h:<12}{'2025.03.2' if new else '2025.03.1':<12}{'unhealthy' if new else 'draining' if h == 'web-09' else 'healthy':<12}{rng.randint(20, 90):>6}{1840 if new else rng.randint(60, 140):>8}{err:>8}")
    sys.exit(bad)
