#!/usr/bin/env python3
"""Makes files that are not text. usage: encoded.py png|settings|sqlite|c|capture|firmware PATH"""
import random, sqlite3, struct, sys, zlib

what, path = sys.argv[1:3]
r = random.Random(113)
if what == "png":
    w, h = 320, 200
    rows = b"".join(b"\0" + bytes(v for x in range(w) for v in ((x * 255 // w) & 0xF0 | r.randint(0, 3), (y * 255 // h) & 0xF8, 40 if 90 < y < 110 else 200)) for y in range(h))
    chunk = lambda t, d: struct.pack(">I", len(d)) + t + d + struct.pack(">I", zlib.crc32(t + d))
    open(path, "wb").write(b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", w, h, 8, 2, 0, 0, 0)) + chunk(b"tEXt", b"Comment\0load of queue mail, 18 to 24 October") + chunk(b"IDAT", zlib.compress(rows, 9)) + chunk(b"IEND", b""))
elif what == "settings":
    with open(path, "w") as f:
        f.write("# settings of the relay, written by relayctl export\n")
        for n in range(1100):
            f.write(f"route.{n:04d}.target = 10.{n % 7}.{n * 13 % 250}.{n * 29 % 250}:{7000 + n % 40}\nroute.{n:04d}.weight = {n * 7 % 100}\n")
elif what == "sqlite":
    db = sqlite3.connect(path)
    db.executescript("create table readings (id integer primary key, sensor text not null, taken_at text, celsius real); create table sensors (name text primary key, place text, installed text); create table faults (id integer primary key, sensor text, message text); create index readings_sensor on readings (sensor);")
    for s in range(12):
        db.execute("insert into sensors values (?,?,?)", (f"probe-{s:02d}", ["boiler room", "roof", "cellar", "server room"][s % 4], f"2025-0{1 + s % 9}-11"))
    for n in range(2400):
        db.execute("insert into readings (sensor, taken_at, celsius) values (?,?,?)", (f"probe-{n % 12:02d}", f"2026-10-{1 + n // 100:02d}T{n % 24:02d}:00:00Z", round(15 + n % 12 + r.random() * 3, 1)))
    db.execute("insert into faults (sensor, message) values ('probe-07', 'reading stuck at 85.0 since 2026-10-09')")
    db.execute("insert into faults (sensor, message) values ('probe-03', 'no answer on bus 1')")
    db.commit()
    db.execute("pragma user_version = 6")
    db.close()
elif what == "c":
    with open(path, "w") as f:
        f.write('#include <stdio.h>\n#include <string.h>\nstatic const struct { int code; const char *text; } messages[] = {\n')
        things = ["valve", "pump", "heater", "filter", "door", "sensor", "relay", "fan", "motor", "display", "hopper", "scale"]
        faults = ["does not open", "does not close", "is too hot", "draws too much current", "gives no answer", "was replaced without calibration", "has run %d hours past service", "reports a wrong serial number"]
        for i, t in enumerate(things):
            for j, x in enumerate(faults):
                f.write(f'  {{ {1000 + i * 100 + j}, "E{1000 + i * 100 + j} the {t} {x}" }},\n')
        f.write('};\nstatic const unsigned short curve[8192] = { ' + ", ".join(str(i * i // 256 % 65536) for i in range(8192)) + ' };\n')
        f.write('int main(int argc, char **argv) {\n  if (argc != 2) { fprintf(stderr, "usage: brewctl start|stop|status\\nbrewctl 1.6.2, talks to /dev/ttyBREW0\\n"); return 64; }\n  if (!strcmp(argv[1], "selftest")) printf("hidden self test passed, curve %u\\n", curve[argv[1][2] * 31]);\n  for (unsigned i = 0; i < sizeof messages / sizeof *messages; i++) if (messages[i].code == argc) puts(messages[i].text);\n  return 0;\n}\n')
elif what == "capture":
    with open(path, "wb") as f:
        f.write(b"CAPT\x02\x00" + struct.pack("<I", 640))
        for n in range(640):
            body = f"GET /sensor/{n % 40} HTTP/1.1".encode() if n % 2 == 0 else f"HTTP/1.1 200 OK t={15 + n % 9}".encode()
            if n == 301:
                body = b"HTTP/1.1 503 gateway asleep"
            f.write(struct.pack("<IHH", 1790000000 + n * 3, n, len(body)) + body + b"\0" * (-len(body) % 4))
else:
    image = bytearray(b"\xff" * 131072)
    image[0:64] = b"FWIM" + struct.pack("<III", 0x00020701, 131072, 0xC0FFEE11) + b"thermostat-h7\0".ljust(48, b"\0")
    for n in range(900):
        image[0x400 + n * 16:0x410 + n * 16] = struct.pack("<IIII", 0xE1A00000 + n * 4, n * 2654435761 % 2**32, 0x20000000 + n * 8, n)
    image[0x8000:0x8000 + 200] = b"boot: checking image\0boot: bad signature, staying in loader\0boot: jump to 0x08010000\0wifi: joined, channel %d\0wifi: wrong passphrase\0".ljust(200, b"\0")
    for n in range(700):
        image[0x9000 + n * 16:0x9010 + n * 16] = f"cfg{n:04d}={n * 37 % 997:05d}".encode().ljust(16, b"\0")
    open(path, "wb").write(image)
