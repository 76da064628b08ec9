"""What the tasks of `code_calls.py` are about: files, two databases, a repository, a graph and pages, always the same."""

import functools
import http.server
import json
import random
import sqlite3
import subprocess
import threading

REGIONS = ["EMEA", "APAC", "AMER", "LATAM"]
PEOPLE = ["Ada", "Ben", "Cleo", "Dan", "Eve", "Finn", "Gus", "Hana"]
WORDS = "invoice refund parcel stock export import cache token session retry queue batch report filter cursor".split()
PATHS = ["/cart", "/checkout", "/login", "/search", "/items", "/export"]
# One of these commits in seven is a fix.
KINDS = ["feat", "feat", "docs", "test", "fix", "feat", "chore"]
TABLES = ["customers", "orders", "payments", "products", "suppliers", "shipments", "returns", "reviews"]


def make(folder, postgres):
    """Fills a folder and a PostgreSQL database, and returns the address of the pages."""
    dice = random.Random(35)
    files = folder / "files"
    write_reports(files / "reports", dice)
    write_logs(files / "logs", dice)
    write_notes(files / "notes", dice)
    orders = [(n, dice.choice(PEOPLE), dice.randrange(500, 90_000) / 100, dice.choice(REGIONS)) for n in range(1, 401)]
    write_sqlite(folder / "shop.db", orders, dice)
    write_postgres(postgres, orders, dice)
    write_repository(folder / "repository", dice)
    write_graph(folder / "graph.json", dice)
    write_pages(folder / "pages", files, dice)
    return serve(folder / "pages")


def write_reports(folder, dice):
    folder.mkdir(parents=True)
    for month in range(1, 13):
        lines = ["date,region,product,units,revenue"]
        for day in range(1, 29):
            for region in REGIONS:
                units = dice.randrange(1, 60)
                revenue = units * dice.randrange(400, 2_500) / 100
                lines.append(f"2026-{month:02}-{day:02},{region},P{dice.randrange(100, 140)},{units},{revenue:.2f}")
        (folder / f"2026-{month:02}.csv").write_text("\n".join(lines) + "\n")


def write_logs(folder, dice):
    folder.mkdir()
    for host in range(1, 7):
        lines = []
        for second in range(250):
            status = dice.choices([200, 201, 304, 404, 500], [80, 6, 6, 5, 3])[0]
            line = f"2026-11-19T08:{second // 60:02}:{second % 60:02}Z web{host} GET {dice.choice(PATHS)} {status}"
            lines.append(f"{line} {dice.randrange(4, 900)}ms req-{dice.randrange(16**8):08x}")
        (folder / f"web{host}.log").write_text("\n".join(lines) + "\n")


def write_notes(folder, dice):
    folder.mkdir()
    for number in range(1, 41):
        body = " ".join(dice.choice(WORDS) for _ in range(dice.randrange(80, 200)))
        status = dice.choice(["open", "open", "done"])
        head = f"# Note {number}: {dice.choice(WORDS)} {dice.choice(WORDS)}\n\nowner: {dice.choice(PEOPLE)}\nstatus: {status}\n"
        (folder / f"note-{number:02}.md").write_text(f"{head}\n{body}\n")


def write_sqlite(path, orders, dice):
    base = sqlite3.connect(path)
    base.execute("CREATE TABLE customers (id INTEGER PRIMARY KEY, name TEXT, region TEXT, since TEXT)")
    base.execute("CREATE TABLE orders (id INTEGER PRIMARY KEY, customer TEXT, amount REAL, region TEXT)")
    people = [(n, name, dice.choice(REGIONS), f"20{10 + n}-01-01") for n, name in enumerate([*PEOPLE, "Ida", "Jon"])]
    base.executemany("INSERT INTO customers VALUES (?, ?, ?, ?)", people)
    base.executemany("INSERT INTO orders VALUES (?, ?, ?, ?)", orders)
    base.commit()
    base.close()


def write_postgres(address, orders, dice):
    """Makes the tables of a shop: payments miss some orders and differ in others; two tables have no primary key."""
    lines = [f"DROP TABLE IF EXISTS {', '.join(TABLES)} CASCADE;"]
    for table in TABLES:
        key = "" if table in ("shipments", "reviews") else " PRIMARY KEY"
        columns = ", ".join(f"{word}_{kind}" for word, kind in zip(WORDS, ["a text", "b int", "c date", "d numeric"] * 3))
        lines.append(f"CREATE TABLE {table} (id int{key}, order_id int, amount numeric(10,2), {columns});")
    for number, _, amount, _ in orders:
        if number % 37 == 0:
            continue
        amount += 5 if number % 53 == 0 else 0
        lines.append(f"INSERT INTO payments (id, order_id, amount) VALUES ({number + 9000}, {number}, {amount:.2f});")
    for number in range(1, 201):
        lines.append(f"INSERT INTO reviews (id, order_id, amount) VALUES ({number}, {number}, {dice.randrange(1, 6)});")
    command = ["psql", "--quiet", "--set=ON_ERROR_STOP=1", address]
    subprocess.run(command, input="\n".join(lines), text=True, check=True, capture_output=True)


def write_repository(folder, dice):
    """Makes a repository of 150 commits at once."""
    stream, files = [], {}
    for number in range(1, 151):
        who, kind = dice.choice(PEOPLE), dice.choice(KINDS)
        name = f"src/{dice.choice(WORDS)}.py"
        added = [f"def {dice.choice(WORDS)}_{number}_{line}():\n    return {line}\n\n" for line in range(6)]
        files[name] = files.get(name, "") + "".join(added)
        message = f"{kind}: {dice.choice(WORDS)} {dice.choice(WORDS)} in {name}"
        at = f"{who} <{who.lower()}@example.com> {1_780_000_000 + number * 90_000} +0000"
        stream += ["commit refs/heads/main", f"author {at}", f"committer {at}", f"data {len(message)}", message]
        stream += [f"M 100644 inline {name}", f"data {len(files[name])}", files[name]]
    subprocess.run(["git", "init", "--quiet", "--initial-branch=main", str(folder)], check=True)
    git = ["git", "-C", str(folder)]
    subprocess.run([*git, "fast-import", "--quiet"], input="\n".join(stream) + "\n", text=True, check=True)
    subprocess.run([*git, "reset", "--quiet", "--hard", "main"], check=True)


def write_graph(path, dice):
    projects = [f"project-{word}" for word in WORDS]
    people = [f"{name} {word.title()}" for name in PEOPLE for word in WORDS[:10]]
    lines = [{"type": "entity", "name": name, "entityType": "project", "observations": [f"began in {2010 + n}"]}
             for n, name in enumerate(projects)]
    for name in people:
        seen = [f"knows {dice.choice(WORDS)}", f"sits in room {dice.randrange(100, 400)}", f"joined in {dice.randrange(2005, 2026)}"]
        lines.append({"type": "entity", "name": name, "entityType": "person", "observations": seen})
    for name in people:
        for project in dice.sample(projects, dice.choice([1, 1, 1, 2, 3])):
            lines.append({"type": "relation", "from": name, "to": project, "relationType": "works on"})
    path.write_text("\n".join(map(json.dumps, lines)) + "\n")


def write_pages(folder, files, dice):
    folder.mkdir()
    stock = ["sku,count"]
    for page in range(1, 6):
        rows = []
        for number in range(40):
            sku, count = f"SKU-{page}{number:02}", dice.randrange(0, 90)
            price, stars = dice.randrange(300, 9_900) / 100, dice.randrange(10, 51) / 10
            cells = [sku, f"{dice.choice(WORDS)} {dice.choice(WORDS)}", f"{price:.2f}", f"{stars:.1f}", str(count)]
            rows.append("<tr>" + "".join(f"<td>{cell}</td>" for cell in cells) + '<td><a href="#">Buy</a></td></tr>')
            stock.append(f"{sku},{count + (3 if number == 7 else 0)}")
        head = "<tr><th>SKU</th><th>Name</th><th>Price</th><th>Stars</th><th>In stock</th><th></th></tr>"
        links = " ".join(f'<a href="page-{other}.html">Page {other}</a>' for other in range(1, 6))
        body = f"<h1>Catalogue</h1><nav>{links}</nav><table>{head}{''.join(rows)}</table>"
        (folder / f"page-{page}.html").write_text(f"<!doctype html><title>Page {page}</title>{body}")
    (files / "stock.csv").write_text("\n".join(stock) + "\n")


class Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *_):
        pass


def serve(folder):
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Quiet, directory=str(folder)))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return f"http://127.0.0.1:{server.server_address[1]}"
