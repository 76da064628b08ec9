"""The tasks of `code_calls.py`. Each is done by single calls and by a script.

`by_calls` stands for a model without code: it yields the calls of a turn as (server, tool, arguments), gets their texts,
and returns its answer. `script` stands for a model with code; it prints the answer. `{files}`, `{repository}` and
`{pages}` in it are the places of `world.py`. `wanted` is what that model would ask `ctx_tools` first, by server.
"""

import ast
import collections
import dataclasses
import json
import re
import typing


@dataclasses.dataclass
class Task:
    name: str
    question: str
    by_calls: typing.Callable
    wanted: dict
    script: str


def names(listing):
    return [line.split("] ")[1] for line in listing.splitlines() if line.startswith("[FILE]")]


def rows(text):
    """Reads what the servers of both databases print: rows as Python writes them."""
    return ast.literal_eval(re.sub(r"Decimal\('([^']*)'\)", r"\1", text))


def reports(at):
    [listing] = yield [("filesystem", "list_directory", {"path": f"{at['files']}/reports"})]
    paths = [f"{at['files']}/reports/{name}" for name in names(listing)]
    [texts] = yield [("filesystem", "read_multiple_files", {"paths": paths})]
    totals, month = collections.Counter(), ""
    for line in texts.splitlines():
        if found := re.search(r"reports/(2026-\d\d)\.csv", line):
            month = found[1]
        elif ",EMEA," in line:
            totals[month] += float(line.split(",")[4])
    month, total = totals.most_common(1)[0]
    return f"{month} {total:.2f}"


def logs(at):
    [listing] = yield [("filesystem", "list_directory", {"path": f"{at['files']}/logs"})]
    texts = yield [("filesystem", "read_text_file", {"path": f"{at['files']}/logs/{name}"}) for name in names(listing)]
    failed = collections.Counter(line.split()[3] for text in texts for line in text.splitlines() if " 500 " in line)
    return " ".join(f"{path}={count}" for path, count in sorted(failed.items()))


def notes(at):
    [listing] = yield [("filesystem", "list_directory", {"path": f"{at['files']}/notes"})]
    paths = [f"{at['files']}/notes/{name}" for name in names(listing)]
    [texts] = yield [("filesystem", "read_multiple_files", {"paths": paths})]
    open_notes = collections.defaultdict(list)
    for title, owner, status in re.findall(r"# (Note \d+): .*\n\nowner: (\w+)\nstatus: (\w+)", texts):
        if status == "open":
            open_notes[owner].append(title)
    text = "".join(f"{owner}: {', '.join(found)}\n" for owner, found in sorted(open_notes.items()))
    yield [("filesystem", "write_file", {"path": f"{at['files']}/open.md", "content": text})]
    return f"{sum(map(len, open_notes.values()))} open notes of {len(open_notes)} people"


def sales(at):
    yield [("sqlite", "list_tables", {})]
    yield [("sqlite", "describe_table", {"table_name": "orders"})]
    query = "SELECT customer, round(sum(amount), 2) AS total FROM orders WHERE region = 'EMEA' GROUP BY customer"
    [found] = yield [("sqlite", "read_query", {"query": f"{query} ORDER BY total DESC LIMIT 1"})]
    [best] = rows(found)
    return f"{best['customer']} {best['total']}"


def reconcile(at):
    yield [("sqlite", "list_tables", {}), ("postgres", "list_objects", {"schema_name": "public"})]
    orders, payments = yield [
        ("sqlite", "read_query", {"query": "SELECT id, amount FROM orders"}),
        ("postgres", "execute_sql", {"sql": "SELECT order_id, amount FROM payments"}),
    ]
    paid = {row["order_id"]: float(row["amount"]) for row in rows(payments)}
    orders = rows(orders)
    unpaid = [row["id"] for row in orders if row["id"] not in paid]
    wrong = [row["id"] for row in orders if abs(paid.get(row["id"], row["amount"]) - row["amount"]) > 0.005]
    return f"unpaid {unpaid} wrong {wrong}"


def keys(at):
    [listed] = yield [("postgres", "list_objects", {"schema_name": "public"})]
    tables = sorted(row["name"] for row in rows(listed))
    details = yield [
        ("postgres", "get_object_details", {"schema_name": "public", "object_name": table}) for table in tables
    ]
    return " ".join(table for table, text in zip(tables, details) if "PRIMARY KEY" not in text)


def authors(at):
    [log] = yield [("git", "git_log", {"repo_path": at["repository"], "max_count": 200})]
    fixes = collections.Counter(re.findall(r"Author: (\w+)\nDate: .*\nMessage: fix", log))
    return " ".join(f"{name}={count}" for name, count in sorted(fixes.items()))


def fixes(at):
    [log] = yield [("git", "git_log", {"repo_path": at["repository"], "max_count": 200})]
    commits = re.findall(r"Commit: (\w+)\nAuthor: .*\nDate: .*\nMessage: fix", log)
    shown = yield [("git", "git_show", {"repo_path": at["repository"], "revision": commit}) for commit in commits]
    added = collections.Counter(name for text in shown for name in re.findall(r"^\+def ([a-z]+)_", text, re.M))
    return " ".join(f"{name}={count}" for name, count in sorted(added.items()))


def graph(at):
    [text] = yield [("memory", "read_graph", {})]
    found = json.loads(text)
    projects = collections.Counter(relation["from"] for relation in found["relations"])
    knows = {one["name"] for one in found["entities"] if {"knows cache", "knows stock"} & {*one["observations"]}}
    chosen = sorted(name for name in knows if projects[name] >= 2)
    new = [{"from": chosen[0], "to": name, "relationType": "mentors"} for name in chosen[1:]]
    yield [("memory", "create_relations", {"relations": new})]
    return f"{chosen[0]} mentors {len(new)}"


def catalogue(at):
    [text] = yield [("filesystem", "read_text_file", {"path": f"{at['files']}/stock.csv"})]
    stock = dict(line.split(",") for line in text.splitlines()[1:])
    wrong = []
    for page in range(1, 6):
        yield [("playwright", "browser_navigate", {"url": f"{at['pages']}/page-{page}.html"})]
        [text] = yield [("playwright", "browser_snapshot", {})]
        for cells in re.findall(r'row .*?\n((?:\s*- cell .*\n)+)', text + "\n"):
            values = re.findall(r'cell "([^"]*)"', cells)
            if values and stock.get(values[0]) not in (None, values[4]):
                wrong.append(values[0])
    return " ".join(wrong)


TASKS = [
    Task(
        "reports",
        "Which month has the highest revenue in EMEA, by the reports, and how much?",
        reports,
        {"filesystem": "list a folder, read files"},
        """
from weir_tools import filesystem
totals = {}
for line in filesystem.list_directory(path="{files}/reports").splitlines():
    name = line.split()[-1]
    text = filesystem.read_text_file(path="{files}/reports/" + name)
    rows = [row.split(",") for row in text.splitlines()[1:]]
    totals[name[:7]] = sum(float(row[4]) for row in rows if row[1] == "EMEA")
month = max(totals, key=totals.get)
print(month, f"{totals[month]:.2f}")
""",
    ),
    Task(
        "logs",
        "How many requests failed with 500, by path, over all logs?",
        logs,
        {"filesystem": "list a folder, read files"},
        """
from collections import Counter
from weir_tools import filesystem
failed = Counter()
for line in filesystem.list_directory(path="{files}/logs").splitlines():
    text = filesystem.read_text_file(path="{files}/logs/" + line.split()[-1])
    failed.update(row.split()[3] for row in text.splitlines() if row.split()[4] == "500")
print(*(f"{path}={count}" for path, count in sorted(failed.items())))
""",
    ),
    Task(
        "notes",
        "Write open.md with the open notes of each owner. How many are there, and of how many people?",
        notes,
        {"filesystem": "list a folder, read and write files"},
        """
import re
from weir_tools import filesystem
found = {}
for line in filesystem.list_directory(path="{files}/notes").splitlines():
    text = filesystem.read_text_file(path="{files}/notes/" + line.split()[-1])
    if "\\nstatus: open\\n" in text:
        owner = re.search(r"owner: (\\w+)", text)[1]
        found.setdefault(owner, []).append(re.search(r"# (Note \\d+)", text)[1])
text = "".join(f"{owner}: {', '.join(titles)}\\n" for owner, titles in sorted(found.items()))
filesystem.write_file(path="{files}/open.md", content=text)
print(sum(map(len, found.values())), "open notes of", len(found), "people")
""",
    ),
    Task(
        "sales",
        "Which customer bought most in EMEA, and for how much?",
        sales,
        {"sqlite": "list tables, describe a table, run a query"},
        """
from weir_tools import sqlite
print(sqlite.list_tables(), sqlite.describe_table(table_name="orders"))
[best] = sqlite.read_query(query="SELECT customer, round(sum(amount), 2) AS total FROM orders "
    "WHERE region = 'EMEA' GROUP BY customer ORDER BY total DESC LIMIT 1")
print(best["customer"], best["total"])
""",
    ),
    Task(
        "reconcile",
        "Which orders in SQLite have no payment in PostgreSQL, and which have one of another amount?",
        reconcile,
        {"sqlite": "run a query", "postgres": "run a query"},
        """
from weir_tools import sqlite, postgres
orders = sqlite.read_query(query="SELECT id, amount FROM orders")
payments = postgres.execute_sql(sql="SELECT order_id, amount FROM payments")
paid = {row["order_id"]: float(row["amount"]) for row in payments}
print("unpaid", [row["id"] for row in orders if row["id"] not in paid],
    "wrong", [row["id"] for row in orders if abs(paid.get(row["id"], row["amount"]) - row["amount"]) > 0.005])
""",
    ),
    Task(
        "keys",
        "Which tables in PostgreSQL have no primary key?",
        keys,
        {"postgres": "list the tables, details of a table"},
        """
from weir_tools import postgres
tables = sorted(row["name"] for row in postgres.list_objects(schema_name="public"))
details = {name: str(postgres.get_object_details(schema_name="public", object_name=name)) for name in tables}
print(*(name for name in tables if "PRIMARY KEY" not in details[name]))
""",
    ),
    Task(
        "authors",
        "How many fixes has each author committed?",
        authors,
        {"git": "the log of commits"},
        """
import re
from collections import Counter
from weir_tools import git
log = git.git_log(repo_path="{repository}", max_count=200)
fixes = Counter(re.findall(r"Author: (\\w+)\\nDate: .*\\nMessage: fix", log))
print(*(f"{name}={count}" for name, count in sorted(fixes.items())))
""",
    ),
    Task(
        "fixes",
        "How many functions have fixes added, by the first word of their names?",
        fixes,
        {"git": "the log of commits, the changes of a commit"},
        """
import re
from collections import Counter
from weir_tools import git
log = git.git_log(repo_path="{repository}", max_count=200)
added = Counter()
for commit in re.findall(r"Commit: (\\w+)\\nAuthor: .*\\nDate: .*\\nMessage: fix", log):
    shown = git.git_show(repo_path="{repository}", revision=commit)
    added.update(re.findall(r"^\\+def ([a-z]+)_", shown, re.M))
print(*(f"{name}={count}" for name, count in sorted(added.items())))
""",
    ),
    Task(
        "graph",
        "Let the first of those who know cache or stock and work on several projects mentor the others. Who, and how many?",
        graph,
        {"memory": "read the whole graph, create relations"},
        """
from collections import Counter
from weir_tools import memory
graph = memory.read_graph()
projects = Counter(relation["from"] for relation in graph["relations"])
chosen = sorted(one["name"] for one in graph["entities"]
    if {"knows cache", "knows stock"} & {*one["observations"]} and projects[one["name"]] >= 2)
memory.create_relations(relations=[{"from": chosen[0], "to": name, "relationType": "mentors"} for name in chosen[1:]])
print(chosen[0], "mentors", len(chosen) - 1)
""",
    ),
    Task(
        "catalogue",
        "Which products have another stock on the catalogue's five pages than in stock.csv?",
        catalogue,
        {"filesystem": "read a file", "playwright": "open a page, read its content"},
        """
import re
from weir_tools import filesystem, playwright
lines = filesystem.read_text_file(path="{files}/stock.csv").splitlines()
stock = dict(line.split(",") for line in lines[1:])
for page in range(1, 6):
    playwright.browser_navigate(url=f"{pages}/page-{page}.html")
    text = playwright.browser_snapshot() + "\\n"
    for cells in re.findall(r'row .*?\\n((?:\\s*- cell .*\\n)+)', text):
        values = re.findall(r'cell "([^"]*)"', cells)
        if values and stock.get(values[0], values[4]) != values[4]:
            print(values[0], end=" ")
""",
    ),
]
