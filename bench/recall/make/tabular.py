#!/usr/bin/env python3
"""Makes tables, JSON answers and structured logs of invented shops and sensors, with fixed seeds.
usage: tabular.py NAME > output"""
import csv, datetime as dt, json, random, sqlite3, sys

out = sys.stdout
T0 = dt.datetime(2026, 9, 1, 0, 0)


def csv_metrics():
    """`cat metrics.csv`: a day of host metrics every five minutes, with gaps, one spike and one dead disk."""
    r = random.Random(11)
    w = csv.writer(out, lineterminator="\n")
    w.writerow(["time", "host", "cpu_percent", "mem_used_mb", "disk_free_gb", "req_per_s", "p95_ms", "status"])
    hosts = {"web-1": 16, "web-2": 16, "web-3": 16, "db-1": 64, "cache-1": 32}
    for step in range(0, 24 * 60, 5):
        t = T0 + dt.timedelta(minutes=step)
        for n, (host, mem) in enumerate(hosts.items()):
            if host == "web-3" and 615 <= step < 700:
                continue
            day = 1 + 0.6 * (8 * 60 < step < 20 * 60)
            cpu = round(min(99, r.gauss(22 + 5 * n, 4) * day), 1)
            rps = round(r.gauss(60 * day, 6), 1) if host.startswith("web") else ""
            p95 = round(r.gauss(180, 25) * day) if host.startswith("web") else ""
            memory = int(mem * 1024 * r.uniform(0.45, 0.6))
            disk = round(412.0 - step / 9.0, 1) if host == "db-1" else round(80 - n * 3 + r.random(), 1)
            status = "ok"
            if host == "web-2" and step == 845:
                cpu, p95, status = 99.9, 48210, "critical"
            elif host == "db-1" and disk < 260:
                status = "warn"
            elif r.random() < 0.012:
                cpu = ""
                status = "no_data"
            w.writerow([t.strftime("%Y-%m-%dT%H:%M:%SZ"), host, cpu, memory, disk, rps, p95, status])


def csv_sales():
    """`cat sales-2026-q3.csv`: a semicolon export of a till, with refunds, a wrong price and quoted line breaks."""
    r = random.Random(23)
    w = csv.writer(out, delimiter=";", lineterminator="\n")
    w.writerow(["receipt", "sold_at", "store", "cashier", "article", "category", "quantity", "unit_price", "discount", "amount", "payment", "remark"])
    articles = [("Espresso beans 1 kg", "coffee", 18.9), ("Filter paper 100", "supplies", 3.4), ("Green tea 250 g", "tea", 9.8),
                ("Hand grinder", "equipment", 64.0), ("Milk jug 0.6 l", "equipment", 21.5), ("Cocoa 500 g", "cocoa", 7.2),
                ("Oat drink 1 l", "supplies", 2.3), ("Decaf beans 1 kg", "coffee", 20.4), ("Gift box", "gifts", 29.0)]
    stores = ["Harbour", "Station", "Old Town", "Airport"]
    for n in range(6200):
        t = dt.datetime(2026, 7, 1, 8, 0) + dt.timedelta(minutes=int(n * 20.4), seconds=n % 60)
        article, category, price = r.choices(articles, [20, 14, 9, 2, 3, 6, 18, 5, 2])[0]
        store = r.choices(stores, [5, 4, 2, 1])[0]
        quantity = r.choices([1, 2, 3, 4, 12], [70, 18, 6, 4, 2])[0]
        discount = r.choices(["", 5, 10, 50], [90, 6, 3.7, 0.3])[0]
        remark = ""
        if r.random() < 0.006:
            quantity, remark = -quantity, "refund"
        if n == 3777:
            article, category, price, quantity, remark = "Hand grinder", "equipment", 6400.0, 1, "price typed by hand"
        if n in (812, 2950, 4404):
            remark = "Customer asked for an invoice;\nsend to the office"
        amount = round(quantity * price * (1 - (discount or 0) / 100), 2)
        payment = r.choices(["card", "cash", "voucher"], [70, 27, 3])[0]
        if n % 1333 == 700:
            payment = ""
        w.writerow([f"R{100000 + n}", t.strftime("%d.%m.%Y %H:%M"), store, f"till {1 + n % 3}", article, category, quantity, f"{price:.2f}", discount, f"{amount:.2f}", payment, remark])


def tickets_db():
    """`sqlite3 -header -csv`: the tickets of a help desk (real sqlite3; the database is made here)."""
    import os, subprocess
    os.makedirs("/srv/desk", exist_ok=True)
    path = "/srv/desk/desk.db"
    if os.path.exists(path):
        os.remove(path)
    r = random.Random(37)
    db = sqlite3.connect(path)
    db.execute("create table tickets (id integer primary key, opened text, closed text, team text, priority text, subject text, body text, hours real, score integer)")
    subjects = ["Cannot sign in", "Invoice is wrong", "Export hangs", "Password reset mail missing", "Page is slow", "Wrong language", "Printer not found"]
    for i in range(1, 451):
        opened = dt.datetime(2026, 4, 1, 9) + dt.timedelta(hours=i * 5 + r.randint(0, 4))
        hours = round(r.lognormvariate(2.2, 0.8), 1)
        closed = (opened + dt.timedelta(hours=hours)).isoformat(" ") if r.random() > 0.08 else None
        team = r.choices(["accounts", "billing", "platform", "devices"], [4, 3, 2, 1])[0]
        subject = r.choice(subjects)
        body = f"{subject} since this morning."
        if i % 9 == 0:
            body = f'Steps:\n1. open "settings"\n2. press save\nResult: {subject.lower()}'
        if i == 217:
            closed = "2026-08-06 12:00:00"
            hours, subject, body = 2190.0, "Data centre move", "Tracks the whole move, see plan."
        db.execute("insert into tickets values (?,?,?,?,?,?,?,?,?)", (i, opened.isoformat(" "), closed, team, "urgent" if r.random() < 0.05 else r.choice(["low", "normal", "normal", "high"]), subject, body, hours if closed else None, r.choice([None, 3, 4, 5, 5, 1])))
    db.commit()
    db.close()
    out.flush()
    subprocess.run(["sqlite3", "-header", "-csv", "desk.db", "select * from tickets"], cwd="/srv/desk", check=True)
    import shutil
    shutil.rmtree("/srv/desk")


def tsv_genes():
    """`cut -f1-8 samples.tsv`: measurements of a laboratory."""
    r = random.Random(5)
    print("sample\tplate\twell\tanalyte\tconcentration_ng_ml\tdilution\tqc\tcomment")
    n = 0
    for plate in range(1, 7):
        for row in "ABCDEFGH":
            for col in range(1, 13):
                for analyte in ("ferritin", "crp", "il6"):
                    n += 1
                    value = f"{r.lognormvariate(3.1, 0.5):.2f}"
                    qc, comment = "pass", ""
                    if plate == 4 and row == "H":
                        qc, comment = "fail", "edge evaporation"
                    elif r.random() < 0.015:
                        value, qc, comment = "NA", "fail", "below detection limit"
                    if (plate, row, col, analyte) == (2, "C", 7, "crp"):
                        value, qc, comment = "88412.90", "review", "hook effect suspected"
                    print(f"S{(n - 1) // 3 + 1:04d}\tP{plate}\t{row}{col:02d}\t{analyte}\t{value}\t{r.choice([1, 1, 1, 10])}\t{qc}\t{comment}")


def tsv_flows():
    """`flowctl list`: the flows that a firewall saw in an hour."""
    r = random.Random(139)
    print("start\tproto\tsrc\tsrc_port\tdst\tdst_port\tpackets\tbytes\tverdict\trule")
    t = T0 + dt.timedelta(hours=9)
    for n in range(7200):
        t += dt.timedelta(milliseconds=r.randint(50, 950))
        dst, port, rule = r.choices([("10.40.0.5", 443, "web"), ("10.40.0.9", 5432, "db"), ("10.40.0.2", 53, "dns"), ("10.40.0.30", 9092, "bus")], [50, 20, 25, 5])[0]
        src, verdict, packets = f"10.41.{r.randint(0, 7)}.{r.randint(2, 250)}", "accept", r.randint(2, 60)
        x = r.random()
        if x < 0.012:
            dst, port, rule, verdict = "10.40.0.9", 22, "default", "drop"
        elif x < 0.016:
            rule, verdict = "rate", "reject"
        size = packets * r.randint(60, 1400)
        if n == 4801:
            src, dst, port, packets, size, rule = "10.41.3.77", "198.51.100.9", 8443, 610223, 884512334, "egress"
        print(f"{t.strftime('%H:%M:%S.%f')[:-3]}\t{'udp' if port == 53 else 'tcp'}\t{src}\t{r.randint(1024, 65535)}\t{dst}\t{port}\t{packets}\t{size}\t{verdict}\t{rule}")


def json_orders():
    """`curl -s localhost:8080/api/orders?limit=900`: one line, with nulls, one order of another shape."""
    r = random.Random(41)
    rows = []
    for i in range(900):
        status = r.choices(["paid", "shipped", "delivered", "cancelled"], [3, 4, 10, 1])[0]
        lines = [{"sku": f"SKU-{r.randint(1, 400):04d}", "qty": r.randint(1, 3), "price": round(r.uniform(4, 120), 2)} for _ in range(r.randint(1, 4))]
        o = {"id": 70001 + i, "created_at": (T0 + dt.timedelta(minutes=i * 7)).strftime("%Y-%m-%dT%H:%M:%SZ"), "customer": {"id": r.randint(1, 300), "country": r.choice(["DE", "FR", "PL", "SE"]), "vat_id": None},
             "status": status, "lines": lines, "total": round(sum(x["qty"] * x["price"] for x in lines), 2), "currency": "EUR", "coupon": r.choice([None, None, None, "AUTUMN10"]), "tracking": None if status in ("paid", "cancelled") else f"TRK{r.randint(10**7, 10**8)}"}
        if i == 533:
            o["lines"] = []
            o["total"] = 0
            o["status"] = "stuck"
            o["error"] = "payment captured but no lines stored"
        if i in (120, 121, 677):
            o["currency"] = "SEK"
        if i == 288:
            o["lines"][0]["qty"] = 4000
            o["total"] = round(sum(x["qty"] * x["price"] for x in o["lines"]), 2)
        if i == 801:
            o["total"] = str(o["total"])
        rows.append(o)
    json.dump(rows, out, separators=(",", ":"))
    out.write("\n")


def json_devices():
    """`curl -s .../devices | jq .`: a fleet of meters, pretty printed."""
    r = random.Random(43)
    rows = []
    for i in range(1400):
        site = r.choice(["north", "south", "east", "quay"])
        d = {"serial": f"MTR-{i:05d}", "site": site, "firmware": r.choices(["3.4.1", "3.4.0", "3.2.9"], [80, 17, 3])[0], "online": r.random() > 0.04, "battery": round(r.uniform(0.4, 1.0), 2),
             "last_seen": (T0 + dt.timedelta(seconds=r.randint(0, 86000))).isoformat() + "Z", "reading": {"kwh": round(r.uniform(100, 9000), 1), "errors": r.choices([0, 1, 2], [95, 4, 1])[0]}, "owner": None if r.random() < 0.02 else "city works"}
        if i == 977:
            d["reading"]["kwh"] = -12.5
            d["reading"]["errors"] = 418
        if i == 64:
            d["firmware"] = "4.0.0-beta2"
        if i in (300, 1201):
            d["battery"] = 0.03
        if i == 555:
            d["last_seen"] = None
            d["online"] = False
            d["note"] = "stolen, reported to the site manager"
        rows.append(d)
    json.dump(rows, out, indent=2)
    out.write("\n")


def ndjson_checkout():
    """`cat checkout.log`: one JSON object a line, as a web service writes it."""
    r = random.Random(47)
    t = T0 + dt.timedelta(hours=6)
    paths = ["/cart", "/cart/items", "/checkout", "/payment", "/shipping/quote"]
    for n in range(5200):
        t += dt.timedelta(milliseconds=r.randint(20, 3500))
        path = r.choices(paths, [8, 6, 3, 2, 3])[0]
        o = {"level": "info", "time": t.isoformat(timespec="milliseconds") + "Z", "service": "checkout", "host": f"checkout-{1 + n % 3}", "req_id": f"r{100000 + n}", "method": r.choice(["GET", "GET", "POST"]), "path": path, "status": 200, "ms": int(r.lognormvariate(3.6, 0.5)), "msg": "request done"}
        if n == 2600:
            print(json.dumps({"level": "info", "time": o["time"], "service": "checkout", "host": "checkout-2", "msg": "starting", "version": "5.12.0", "commit": "8c1f0de"}))
        x = r.random()
        if path == "/payment" and x < 0.04 and 2000 < n < 4500:
            o.update(level="error", status=502, ms=30000 + r.randint(1, 90), msg="payment provider timed out", provider="northpay", attempt=3)
        elif x < 0.006:
            o.update(level="warn", status=409, msg="cart changed while paying")
        elif x < 0.009:
            o.update(level="error", status=500, msg="cannot read property of undefined", err={"type": "TypeError", "stack": "TypeError: cannot read property 'rate' of undefined\n    at quote (/srv/checkout/shipping.js:88:21)"}, path="/shipping/quote")
        if n == 3901:
            o.update(level="fatal", status=0, msg="heap out of memory", heap_mb=1988)
        print(json.dumps(o))
        if n == 3901:
            print("Killed")


def ndjson_worker():
    """`journalctl -u media-worker -o cat`: events of a queue worker, several shapes."""
    r = random.Random(53)
    ts = 1788300000.0
    for n in range(9000):
        ts += r.uniform(0.05, 1.4)
        job = f"job-{20000 + n}"
        kind = r.choices(["thumbnail", "transcode", "caption", "virus_scan"], [50, 20, 15, 15])[0]
        ms = int(r.lognormvariate(5.2 if kind != "transcode" else 8.0, 0.6))
        print(json.dumps({"ts": round(ts, 3), "event": "job.started", "queue": kind, "job": job, "worker": n % 4}))
        ts += 0.01
        if kind == "transcode" and r.random() < 0.03:
            print(json.dumps({"ts": round(ts, 3), "event": "job.failed", "queue": kind, "job": job, "worker": n % 4, "error": r.choices(["unsupported codec: prores_raw", "moov atom not found", "no space left on device"], [5, 4, 1])[0], "retry": r.randint(0, 3)}))
        elif kind == "virus_scan" and n in (1203, 6044):
            print(json.dumps({"ts": round(ts, 3), "event": "job.quarantined", "queue": kind, "job": job, "worker": n % 4, "signature": "Eicar-Test-Signature", "upload": 880000 + n}))
        else:
            print(json.dumps({"ts": round(ts, 3), "event": "job.done", "queue": kind, "job": job, "worker": n % 4, "ms": ms, "bytes": ms * 311}))
        if n % 500 == 0:
            print(json.dumps({"ts": round(ts, 3), "event": "queue.depth", "depth": {"thumbnail": n // 50, "transcode": n // 20, "caption": 3, "virus_scan": 0}}))
        if n == 5000:
            print(json.dumps({"ts": round(ts, 3), "event": "worker.lost", "worker": 2, "reason": "missed 3 heartbeats", "requeued": 7}))


{"csv-metrics-hosts": csv_metrics, "csv-sales-coffee": csv_sales, "csv-sqlite-tickets": tickets_db, "tsv-lab-samples": tsv_genes, "tsv-flows-firewall": tsv_flows,
 "json-array-orders": json_orders, "json-array-devices": json_devices, "ndjson-checkout": ndjson_checkout, "ndjson-media-worker": ndjson_worker}[sys.argv[1]]()
