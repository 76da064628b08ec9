"""Asks real MCP servers about real data and writes each answer to OUT/NAME.txt, with the call in OUT/NAME.json.

usage: make.py OUT NODE-MODULES VENV [NAME-BEGINS-WITH…]      (after data.sh)
"""
import contextlib
import http.server
import functools
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import threading
import time

from server import Server

OUT, MODULES, VENV = map(pathlib.Path, sys.argv[1:4])
WANTED = tuple(sys.argv[4:])
NODE, PYTHON = MODULES / ".bin", VENV / "bin"
DATA = pathlib.Path("/srv/flood")
DOCS, WEB = 8090, "http://localhost:8090"
CHROMIUM = "/usr/bin/chromium"


def keep(name, server, tool, answer, **arguments):
    """Writes an answer, with hosts of package registries replaced."""
    text = re.sub(r'https?://[a-z0-9.:-]+/(?=[^"\s]*\.tgz)', "https://packages.example/", answer)
    (OUT / f"{name}.txt").write_text(text)
    call = {"tool": f"mcp__{server}__{tool}", "input": arguments}
    (OUT / f"{name}.json").write_text(json.dumps(call, indent=1))
    print(f"{len(text.encode()):>9} {name}", flush=True)


def asked(server, label, calls):
    """Makes the calls that are wanted of one server; a call without a name only prepares the next."""
    for name, tool, arguments in calls:
        if not name or name.startswith(WANTED or ("",)):
            answer = server.call(tool, **arguments)
            if name:
                keep(name, label, tool, answer, **arguments)


def wants(*beginnings):
    return not WANTED or any(one.startswith(beginnings) or one[:3] in beginnings for one in WANTED)


@contextlib.contextmanager
def running(command, seconds=2, **more):
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, **more)
    time.sleep(seconds)
    try:
        yield
    finally:
        process.terminate()
        process.wait()


def of_git():
    with Server([PYTHON / "mcp-server-git"]) as server:
        asked(server, "git", [
            ("git-log-fastify", "git_log", {"repo_path": "/srv/flood/fastify", "max_count": 250}),
            ("git-log-click", "git_log", {"repo_path": "/srv/flood/click", "max_count": 120}),
            ("git-diff-click", "git_diff", {"repo_path": "/srv/flood/click", "target": "8.4.0"}),
            ("git-show-fastify", "git_show", {"repo_path": "/srv/flood/fastify", "revision": "v5.0.0~40"}),
            ("git-show-logger", "git_show", {"repo_path": "/srv/flood/fastify", "revision": "64f9b2570"}),
        ])


def of_github():
    environment = {"NODE_OPTIONS": f"--import {pathlib.Path(__file__).parent / 'github.mjs'}", "GITHUB_PORT": "8091"}
    click, fastify = ({"owner": "example", "repo": name} for name in ("click", "fastify"))
    with running([sys.executable, pathlib.Path(__file__).parent / "github.py", "8091"]), \
            Server([NODE / "mcp-server-github"], **environment) as server:
        asked(server, "github", [
            ("github-issues-click", "list_issues", {**click, "state": "open", "per_page": 60}),
            ("github-search-click", "search_issues", {"q": "repo:example/click prompt", "per_page": 30}),
            ("github-pulls-fastify", "list_pull_requests", {**fastify, "state": "all", "per_page": 30}),
            ("github-commits-click", "list_commits", {**click, "perPage": 60}),
            ("github-files-fastify", "get_pull_request_files", {**fastify, "pull_number": 3970}),
            ("github-code-fastify", "search_code", {"q": "decorateRequest repo:example/fastify", "per_page": 50}),
        ])


def of_files():
    shutil.copy("/var/log/dpkg.log", DATA / "dpkg.log")
    sources = [f"/srv/flood/click/src/click/{name}.py" for name in ("decorators", "exceptions", "formatting", "parser", "utils")]
    with Server([NODE / "mcp-server-filesystem", "/srv/flood"]) as server:
        asked(server, "filesystem", [
            ("files-tree-app", "directory_tree", {"path": "/srv/flood/app"}),
            ("files-tree-fastify", "directory_tree", {"path": "/srv/flood/fastify", "excludePatterns": [".git"]}),
            ("files-search-types", "search_files", {"path": "/srv/flood/app", "pattern": "**/*.d.ts"}),
            ("files-sizes-datefns", "list_directory_with_sizes", {"path": "/srv/flood/app/node_modules/date-fns", "sortBy": "size"}),
            ("files-many-click", "read_multiple_files", {"paths": sources}),
            ("files-lock-app", "read_text_file", {"path": "/srv/flood/app/package-lock.json"}),
            ("files-changes-click", "read_text_file", {"path": "/srv/flood/click/CHANGES.md"}),
            ("files-dpkg-log", "read_text_file", {"path": "/srv/flood/dpkg.log", "tail": 20000}),
            ("files-reference-fastify", "read_text_file", {"path": "/srv/flood/fastify/docs/Reference/Server.md"}),
        ])


def of_databases():
    sqlite = VENV.parent / f"{VENV.name}-sqlite" / "bin" / "mcp-server-sqlite"
    with Server([sqlite, "--db-path", DATA / "packages.db"]) as server:
        asked(server, "sqlite", [
            ("sqlite-database", "read_query", {"query": "SELECT * FROM package WHERE section = 'database' ORDER BY name"}),
            ("sqlite-web", "read_query", {"query": "SELECT p.name, p.version, p.installed_kb, count(d.needs) AS needs FROM package p "
                "LEFT JOIN dependency d ON d.package = p.name WHERE p.section IN ('web', 'httpd') GROUP BY p.name ORDER BY needs DESC"}),
            ("sqlite-net", "read_query", {"query": "SELECT name, version, architecture, installed_kb FROM package WHERE section = 'net' ORDER BY installed_kb DESC"}),
        ])
    with Server([PYTHON / "mcp-alchemy"], DB_URL=f"sqlite:///{DATA}/packages.db", EXECUTE_QUERY_MAX_CHARS="2000000") as server:
        asked(server, "alchemy", [
            ("alchemy-rust", "execute_query", {"query": "SELECT name, version, installed_kb, download_bytes FROM package "
                "WHERE section = 'rust' ORDER BY installed_kb DESC LIMIT 900", "params": {}}),
            ("alchemy-vcs", "execute_query", {"query": "SELECT p.name, p.version, d.needs, d.constraint_text FROM package p "
                "JOIN dependency d ON d.package = p.name WHERE p.section = 'vcs' ORDER BY 1, 3", "params": {}}),
        ])


def of_postgres():
    binaries = sorted(pathlib.Path("/usr/lib/postgresql").glob("*/bin"))[-1]
    folder = DATA / "postgres"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    shutil.chown(folder, "postgres")
    as_user = ["su", "postgres", "-s", "/bin/sh", "-c"]
    subprocess.run([*as_user, f"{binaries}/initdb -D {folder}/db -A trust"], check=True, stdout=subprocess.DEVNULL)
    options = "-c log_statement=all -c log_duration=on -c log_connections=on -c log_line_prefix='%m [%p] %q%u@%d '"
    with running([*as_user, f"{binaries}/postgres -D {folder}/db -p 8092 -k {folder} {options} 2>{folder}/log"], 3), \
            Server([NODE / "mcp-server-postgres", "postgresql://postgres@localhost:8092/postgres"]) as server:
        asked(server, "postgres", [
            ("postgres-settings", "query", {"sql": "SELECT name, setting, unit, category, context, vartype, boot_val, pending_restart FROM pg_settings ORDER BY name"}),
            ("postgres-zones", "query", {"sql": "SELECT * FROM pg_timezone_names WHERE name !~ '^posix' ORDER BY utc_offset, name"}),
            ("postgres-functions", "query", {"sql": "SELECT p.oid, proname, pronargs, provolatile, proisstrict, proretset, pg_get_function_arguments(p.oid) AS arguments, "
                "t.typname AS returns FROM pg_proc p JOIN pg_type t ON t.oid = prorettype WHERE prokind = 'f' ORDER BY proname LIMIT 700"}),
        ])


class Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *_):
        pass


def of_pages():
    handler = functools.partial(Quiet, directory="/usr/share/doc")
    threading.Thread(target=http.server.ThreadingHTTPServer(("127.0.0.1", DOCS), handler).serve_forever, daemon=True).start()
    python, postgres = f"{WEB}/python3.11/html/library", f"{WEB}/postgresql-doc-15/html"
    with Server([PYTHON / "mcp-server-fetch", "--ignore-robots-txt", "--allow-private-ips"]) as server:
        asked(server, "fetch", [
            ("fetch-argparse", "fetch", {"url": f"{python}/argparse.html", "max_length": 400000}),
            ("fetch-pragma", "fetch", {"url": f"{WEB}/sqlite3/pragma.html", "max_length": 400000}),
            ("fetch-functions-raw", "fetch", {"url": f"{postgres}/functions-string.html", "max_length": 400000, "raw": True}),
            ("fetch-option", "fetch", {"url": f"{WEB}/rust-doc/html/std/option/enum.Option.html", "max_length": 400000}),
        ])
    arguments = ["--headless", "--no-sandbox", "--isolated", "--executable-path", CHROMIUM]
    with running([PYTHON / "datasette", DATA / "packages.db", "-p", "8093", "--setting", "max_returned_rows", "400", "--setting", "default_page_size", "300"], 4), \
            tempfile.TemporaryDirectory() as folder, \
            Server([NODE / "playwright-mcp", *arguments], folder=folder) as server:
        asked(server, "playwright", [
            (None, "browser_navigate", {"url": f"{python}/os.html"}),
            ("playwright-os", "browser_snapshot", {}),
            (None, "browser_navigate", {"url": f"{WEB}/sqlite3/lang_datefunc.html"}),
            ("playwright-dates", "browser_snapshot", {}),
            (None, "browser_navigate", {"url": "http://localhost:8093/packages/package?section=vcs&_size=300"}),
            ("playwright-datasette", "browser_snapshot", {}),
        ])
        with Server([NODE / "chrome-devtools-mcp", "--headless", "--isolated", f"--executablePath={CHROMIUM}", "--chromeArg=--no-sandbox"], folder=folder) as devtools:
            asked(devtools, "chrome-devtools", [
                (None, "navigate_page", {"pageId": 1, "type": "url", "url": f"{postgres}/runtime-config-client.html"}),
                ("devtools-postgres", "take_snapshot", {"pageId": 1}),
                (None, "navigate_page", {"pageId": 1, "type": "url", "url": f"{WEB}/rust-doc/html/std/vec/struct.Vec.html"}),
                ("devtools-vec", "take_snapshot", {"pageId": 1}),
            ])


def of_memory():
    """The packages of the app and what needs what, as an assistant would note them down."""
    lock = json.loads((DATA / "app/package-lock.json").read_text())["packages"]
    entities, relations = [], []
    for place, about in lock.items():
        name = place.rpartition("node_modules/")[2] or "app"
        notes = [f"version {about.get('version', 'unknown')}", f"licence {about.get('license', 'unknown')}"]
        notes += [f"runs with node {about['engines']['node']}"] if isinstance(about.get("engines"), dict) and "node" in about["engines"] else []
        notes += [f"installs the command {command}" for command in about.get("bin", {})]
        entities.append({"name": name, "entityType": "package", "observations": notes})
        relations += [{"from": name, "to": to, "relationType": "needs"} for to in about.get("dependencies", {})]
    with tempfile.TemporaryDirectory() as folder, \
            Server([NODE / "mcp-server-memory"], MEMORY_FILE_PATH=f"{folder}/memory.jsonl") as server:
        server.call("create_entities", entities=entities)
        server.call("create_relations", relations=relations)
        asked(server, "memory", [("memory-graph", "read_graph", {}), ("memory-search", "search_nodes", {"query": "node >="})])


def of_sources():
    with Server([NODE / "repomix", "--mcp"]) as server:
        packed = server.call("pack_codebase", directory="/srv/flood/click", includePatterns="examples/**,src/click/*.py", ignorePatterns="**/core.py,**/types.py")
        output = re.search(r'"?outputId"?: ?"?(\w+)', packed)[1]
        asked(server, "repomix", [("repomix-click", "read_repomix_output", {"outputId": output}),
                                  ("repomix-grep", "grep_repomix_output", {"outputId": output, "pattern": "def ", "contextLines": 2})])
    rules = "export default [{languageOptions: {ecmaVersion: 2022, sourceType: 'commonjs'}, rules: " + json.dumps({
        rule: "warn" for rule in ("no-var", "prefer-const", "eqeqeq", "no-shadow", "no-undef", "no-unused-vars", "max-depth", "complexity", "curly")
    }) + "}];"
    with tempfile.TemporaryDirectory() as folder:
        (DATA / "express").exists() or shutil.copytree(DATA / "app/node_modules/express", DATA / "express")
        (DATA / "express/eslint.config.mjs").write_text(rules)
        with Server([NODE / "mcp"], folder=str(DATA / "express")) as server:
            paths = sorted(str(path) for path in (DATA / "express/lib").glob("*.js"))
            asked(server, "eslint", [("eslint-express", "lint-files", {"filePaths": paths})])


OUT.mkdir(parents=True, exist_ok=True)
for make, *names in [(of_git, "git-"), (of_github, "github"), (of_files, "files"), (of_databases, "sqlite", "alchemy"), (of_postgres, "postgres"),
                     (of_pages, "fetch", "playwright", "devtools"), (of_memory, "memory"), (of_sources, "repomix", "eslint")]:
    if wants(*names):
        try:
            make()
        except Exception as error:
            print(f"{make.__name__}: {error!r}", flush=True)
