"""Writes what the package lists of Debian and the lock file of the app say into an SQLite database."""
import json
import re
import sqlite3
import subprocess
import sys

FIELDS = "Package Version Section Priority Architecture Installed-Size Size".split()


def paragraphs():
    """Packages of a few sections, by name; facts alone, no descriptions and no people."""
    text = subprocess.run(["apt-cache", "dumpavail"], capture_output=True, text=True, check=True).stdout
    seen = {}
    for block in text.split("\n\n"):
        fields = dict(re.findall(r"^([A-Z][\w-]+): (.*)$", block, re.M))
        if fields.get("Section") in ("database", "httpd", "rust", "shells", "vcs", "web", "net"):
            seen.setdefault(fields["Package"], fields)
    return [seen[name] for name in sorted(seen)]


def main(path):
    db = sqlite3.connect(path)
    db.execute("create table package (name text primary key, version text, section text, priority text, "
               "architecture text, installed_kb integer, download_bytes integer)")
    db.execute("create table dependency (package text, needs text, constraint_text text)")
    for fields in paragraphs():
        row = [fields.get(name) for name in FIELDS]
        db.execute("insert into package values (?, ?, ?, ?, ?, ?, ?)", row[:5] + [int(row[5] or 0), int(row[6] or 0)])
        for need in filter(None, fields.get("Depends", "").split(", ")):
            name, _, limit = need.split(" | ")[0].partition(" (")
            db.execute("insert into dependency values (?, ?, ?)", (row[0], name.split(":")[0], limit.rstrip(")") or None))
    db.execute("create table npm (path text primary key, name text, version text, licence text, is_dev integer, "
               "engines text)")
    lock = json.load(open("app/package-lock.json"))
    for place, about in lock["packages"].items():
        if place:
            name = place.rpartition("node_modules/")[2]
            db.execute("insert into npm values (?, ?, ?, ?, ?, ?)", (
                place, name, about["version"], about.get("license"), bool(about.get("dev")),
                json.dumps(about["engines"]) if "engines" in about else None))
    db.commit()


main(sys.argv[1])
