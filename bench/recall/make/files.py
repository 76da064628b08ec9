#!/usr/bin/env python3
"""files.py shop|atlas DIR: a deployed tree with code, assets, logs, backups and odd files.

Sizes are real (sparse files), times and modes are fixed.
"""
import os
import random
import sys
import time

from codebase import build, write

domain, root = sys.argv[1], sys.argv[2]
dom, rng, files, plain = build(domain, 14 if domain == "shop" else 22)
write(root, files, plain)
DAY = 86400
T0 = 1741000000 if domain == "shop" else 1752000000


def put(path, size, mode=0o644):
    p = os.path.join(root, path)
    os.makedirs(os.path.dirname(p), exist_ok=True)
    with open(p, "w") as f:
        f.truncate(size)
    os.chmod(p, mode)


if domain == "shop":
    for d in range(60):
        day = time.strftime("%Y-%m-%d", time.gmtime(T0 - d * DAY))
        put(f"var/log/access-{day}.log.gz", rng.randrange(800_000, 3_000_000), 0o640)
        put(f"var/log/worker-{day}.log.gz", rng.randrange(20_000, 300_000), 0o640)
    put("var/log/worker.log", 2_914_377_216, 0o640)
    put("var/log/error.log", 0, 0o640)
    for n in range(5000):
        put(f"public/assets/products/{n // 50:03d}/product-{n:04d}-{rng.choice(['front', 'side', 'detail'])}.webp", rng.randrange(9_000, 240_000))
    for n in range(40):
        put(f"public/assets/js/chunk-{rng.randrange(16**8):08x}.js", rng.randrange(4_000, 400_000))
    for n in range(12):
        put(f"var/backup/shop-2024{n + 1:02d}01.sql.gz", 180_000_000 + n * 7_000_000, 0o600)
    put("var/backup/shop-20240401.sql.gz", 0, 0o600)
    put("config/payments.secret.yaml", 412, 0o666)
    put("bin/deploy", 3_811, 0o755)
    put("bin/rollback", 1_902, 0o644)
    os.symlink("../releases/2025-02-27", os.path.join(root, "var/current"))
else:
    for z in range(6, 11):
        for x in range(0, 2 ** (z - 5)):
            for y in range(0, 48):
                put(f"tiles/{z}/{x}/{y}.pbf", rng.randrange(300, 90_000))
    for r in ["north", "south", "east", "west", "coast"]:
        for k in range(16):
            put(f"data/elevation/{r}/dem_{k:02d}.tif", rng.randrange(30_000_000, 90_000_000))
    put("data/extract/planet-cut.osm.pbf", 6_442_450_944)
    put("data/extract/planet-cut.osm.pbf.part", 1_288_490_188)
    for n in range(70):
        put(f"cache/render/{rng.randrange(256):02x}/{rng.randrange(16**12):012x}.tmp", rng.choice([0, 0, 4096, 65536]))
    put("tiles/9/7/core.8812", 734_003_200, 0o600)
    put(".env.production", 288, 0o644)
    os.symlink("/mnt/missing/fonts", os.path.join(root, "styles-fonts"))

for base, dirs, names in os.walk(root, topdown=False):
    for n in sorted(names):
        p = os.path.join(base, n)
        if not os.path.islink(p):
            t = T0 - rng.randrange(0, 200) * DAY - rng.randrange(DAY)
            os.utime(p, (t, t))
            if "/var/" in p or "/cache/" in p:
                os.chown(p, 33, 33)
    os.utime(base, (T0, T0))
for p in (["var/log/worker.log", "config/payments.secret.yaml"] if domain == "shop" else ["tiles/9/7/core.8812", "data/extract/planet-cut.osm.pbf.part"]):
    os.utime(os.path.join(root, p), (T0 + 3 * DAY, T0 + 3 * DAY))
