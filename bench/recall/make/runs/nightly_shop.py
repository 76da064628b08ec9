"""Writes the data of nightly-shop.sh."""
import os, pathlib, sqlite3, subprocess, sys, time
root = pathlib.Path(sys.argv[1]); root.mkdir(parents=True)
os.chdir(root)
for n in range(260):
    file = pathlib.Path(f"media/{n % 13:02}/photo-{n:04}.{'png' if n % 9 else 'tiff'}"); file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(b"" if n in (77, 203) else bytes([n % 251]) * (900 + 37 * n))
pathlib.Path("logs").mkdir(); pathlib.Path("carts").mkdir(); pathlib.Path("certs").mkdir()
for n in range(1, 31): pathlib.Path(f"logs/web-2026-10-{n:02}.log").write_text("x" * n * 50)
for n in range(90):
    cart = pathlib.Path(f"carts/cart-{n:03}.json"); cart.write_text("{}")
    if n % 3 == 0: os.utime(cart, (time.time() - 86400 * (31 + n),) * 2)
base = sqlite3.connect("shop.db")
base.executescript("create table customers(id integer primary key); create table orders(id integer primary key, customer references customers(id), state text, cents int); insert into customers values(1),(2);")
states = ["paid"] * 7 + ["open"] * 2 + ["refunded"]
base.executemany("insert into orders values(?,?,?,?)", [(n, 9 if n in (40, 41, 88) else 1 + n % 2, states[n % 10], 100 * n) for n in range(1, 201)])
base.commit()
for name, days in [("shop.example", 200), ("pay.example", 12), ("static.example", 90)]:
    subprocess.run(["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout", "/dev/null", "-out", f"certs/{name}.pem", "-days", str(days), "-subj", f"/CN={name}"], check=True, capture_output=True)
pathlib.Path("thumbs.py").write_text('''import pathlib, sys

made = skipped = 0


def shrink(path):
    data = path.read_bytes()
    return data[: len(data) // data[0]]


for path in sorted(pathlib.Path(sys.argv[1]).rglob("*")):
    if path.is_dir():
        continue
    if path.suffix == ".tiff":
        print(f"skip {path}: tiff is not supported", file=sys.stderr)
        skipped += 1
        continue
    small = shrink(path)
    made += 1
    print(f"made {path.with_suffix('.thumb')} {len(small)} bytes")
print(f"{made} made, {skipped} skipped")
''')
