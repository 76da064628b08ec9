#!/usr/bin/env python3
"""Writes the projects that json-tools.sh runs tools on. usage: json-tools.py workspace|warnings|ruff|eslint|openapi DIR"""
import json, os, random, sys

what, base = sys.argv[1:3]


def put(path, text):
    path = os.path.join(base, path)
    os.makedirs(os.path.dirname(path) or ".", exist_ok=True)
    open(path, "w").write(text)


r = random.Random(127)
if what == "workspace":
    names = ["core", "wire", "codec", "store", "index", "query", "planner", "executor", "cache", "metrics", "trace", "config", "auth", "acl", "gateway", "http", "grpc", "cli", "admin", "worker", "queue", "scheduler", "mailer", "report", "export", "import", "testkit", "bench", "fuzz", "migrate"]
    put("Cargo.toml", "[workspace]\nresolver = \"2\"\nmembers = [\"crates/*\"]\nexclude = [\"vendor\"]\n")
    for n, name in enumerate(names):
        deps = [names[i] for i in sorted({r.randint(0, n - 1) for _ in range(min(n, 3))})] if n else []
        if name != "core" and "core" not in deps:
            deps.insert(0, "core")
        text = f'[package]\nname = "atlas-{name}"\nversion = "{"0.9.0-rc.1" if name == "grpc" else "1.4.2"}"\nedition = "{"2018" if name == "mailer" else "2021"}"\n'
        text += "" if name == "fuzz" else 'license = "MIT OR Apache-2.0"\n'
        text += 'rust-version = "1.85"\n' if name == "executor" else ""
        text += f'description = "The {name} part of Atlas"\nauthors = ["atlas team <atlas@example.org>"]\n' + ("publish = false\n" if name in ("testkit", "bench", "fuzz") else "")
        text += "\n[features]\n" + ("default = [\"lru\"]\nlru = []\ndisk = []\nunsafe-mmap = [\"disk\"]\n" if name == "cache" else "default = []\ntrace = []\n") + "\n[dependencies]\n"
        for d in deps:
            text += f'atlas-{d} = {{ path = "../{d}" }}\n'
        if name == "import":
            text += 'legacy-codec = { package = "atlas-codec", path = "../../vendor/codec-0.3" }\n'
        if name not in ("testkit", "core") and n % 2 == 0:
            text += '\n[dev-dependencies]\natlas-testkit = { path = "../testkit" }\n'
        put(f"crates/{name}/Cargo.toml", text)
        put(f"crates/{name}/src/lib.rs", "")
        if name in ("cli", "admin", "worker", "gateway"):
            put(f"crates/{name}/src/main.rs", "fn main() {}\n")
        if name in ("index", "query"):
            put(f"crates/{name}/benches/speed.rs", "fn main() {}\n")
        put(f"crates/{name}/tests/api.rs", "")
    put("vendor/codec-0.3/Cargo.toml", '[package]\nname = "atlas-codec"\nversion = "0.3.11"\nedition = "2015"\nlicense = "MIT"\n')
    put("vendor/codec-0.3/src/lib.rs", "")
elif what == "warnings":
    put("Cargo.toml", '[package]\nname = "meter"\nversion = "0.5.0"\nedition = "2021"\n\n[workspace]\nmembers = ["probe"]\n\n[dependencies]\nprobe = { path = "probe" }\n')
    put("probe/Cargo.toml", '[package]\nname = "probe"\nversion = "0.2.0"\nedition = "2021"\n')
    text = "//! Reads probes.\n"
    for i in range(9):
        text += f"\npub fn read_{i}(raw: &[u8]) -> u32 {{\n    let mut sum = {i};\n    let scale = raw.len();\n    for b in raw {{\n        sum += *b as u32;\n    }}\n    return sum;\n}}\n\nfn calibrate_{i}(x: f64) -> f64 {{\n    x * 1.0{i}\n}}\n"
    text += "\n#[deprecated(note = \"use read_0\")]\npub fn read_old() -> u32 {\n    0\n}\n"
    put("probe/src/lib.rs", text)
    main = "use std::collections::HashMap;\nuse std::fmt::Write;\n\nstruct Meter {\n    id: u32,\n    serial: String,\n    offset: i64,\n}\n\nfn total(meters: &[Meter]) -> i64 {\n    let mut t = 0;\n    for m in meters {\n        t += m.offset;\n    }\n    t\n}\n\nfn label(m: Meter) -> String {\n    let s = m.serial;\n    println!(\"{}\", m.serial);\n    s\n}\n\nfn main() {\n    let unused_limit = 12;\n    let mut count = 0;\n    let meters: Vec<Meter> = Vec::new();\n    let n: u32 = total(&meters);\n    println!(\"{} {}\", n, probe::read_old());\n"
    for i in range(10):
        main += f"    let sample_{i} = probe::read_{i % 9}(&[{i}]);\n"
    put("src/main.rs", main + "}\n")
elif what == "ruff":
    put("pyproject.toml", '[tool.ruff]\nline-length = 88\n[tool.ruff.lint]\nselect = ["E", "F", "B", "UP", "SIM", "S"]\n')
    mods = ["ingest", "clean", "features", "train", "score", "serve", "drift", "export"]
    for n, m in enumerate(mods):
        t = f'"""The {m} step of the forecast."""\nimport os\nimport sys\nfrom typing import Dict, List, Optional\n\n'
        for i in range(7):
            t += f"\ndef {m}_{i}(rows: List[Dict], limit: Optional[int] = None, seen=[]):\n    total = 0\n    for row in rows:\n        if row.get('value') == None:\n            continue\n        total += row['value']\n    unused_{i} = limit\n    try:\n        return total / len(rows)\n    except:\n        return 0\n\n"
        if m == "serve":
            t += "\ndef run(cmd):\n    return os.system(cmd + ' --serve')\n\n\ndef load(text):\n    return eval(text)\n"
        if m == "drift":
            t += "\ndef limit():\n    return undefined_threshold * 2\n"
        put(f"forecast/{m}.py", t)
    put("forecast/broken.py", "def half(:\n    return 1\n")
elif what == "eslint":
    put("package.json", '{ "name": "storefront", "version": "1.0.0", "type": "module" }\n')
    put("eslint.config.js", "export default [{ files: ['src/**/*.js'], languageOptions: { globals: { document: 'readonly', fetch: 'readonly', console: 'readonly' } }, rules: { 'no-unused-vars': 'warn', 'no-undef': 'error', eqeqeq: 'error', 'prefer-const': 'warn', 'no-empty': 'error', 'no-eval': 'error', 'no-unreachable': 'error', complexity: ['warn', 6], 'no-var': 'warn' } }];\n")
    for n, m in enumerate(["cart", "catalog", "checkout", "account", "search", "review", "banner", "menu", "price", "stock"]):
        t = ""
        for i in range(6):
            t += f"export function {m}{i}(items, options) {{\n  var total = 0;\n  let factor = {i} + 1;\n  for (const item of items) {{\n    if (item.kind == '{m}') total += item.value * factor;\n  }}\n  try {{ document.title = '{m}'; }} catch (e) {{}}\n  return total;\n}}\n\n"
        if m == "checkout":
            t += "export function pay(order) {\n  if (order.a) return 1; if (order.b) return 2; if (order.c) return 3; if (order.d) return 4; if (order.e) return 5; if (order.f) return 6; if (order.g) return 7;\n  return eval(order.rule);\n}\n"
        if m == "search":
            t += "export function run(q) {\n  return searchClient.query(q);\n  console.log('never');\n}\n"
        if m == "banner":
            t = "export const clean = (x) => x + 1;\n"
        if m == "menu":
            t += "export function open( {\n"
        put(f"src/{m}.js", t)
else:
    paths, schemas = {}, {}
    things = {"account": ["iban", "currency", "closed"], "posting": ["amount", "booked_at", "memo"], "customer": ["name", "country", "risk"], "mandate": ["signed_at", "limit"], "statement": ["month", "pages"], "card": ["last4", "frozen"], "dispute": ["reason", "state"], "payee": ["iban", "trusted"], "limit": ["kind", "cents"], "rate": ["pair", "value"], "audit": ["actor", "action"], "webhook": ["url", "events"]}
    for t, fs in things.items():
        schemas[t.capitalize()] = {"type": "object", "required": ["id"] + fs[:1], "properties": {"id": {"type": "string", "format": "uuid"}, **{f: {"type": "string", "description": f"The {f.replace('_', ' ')} of the {t}"} for f in fs}}}
        err = {str(c): {"description": d, "content": {"application/json": {"schema": {"$ref": "#/components/schemas/Problem"}}}} for c, d in ((400, "The request is not valid"), (401, "No or wrong token"), (404, f"No such {t}"), (429, "Too many requests"))}
        ok = lambda s: {"200": {"description": "Done", "content": {"application/json": {"schema": s}}}, **err}
        ref = {"$ref": f"#/components/schemas/{t.capitalize()}"}
        paths[f"/{t}s"] = {"get": {"operationId": f"list{t.capitalize()}s", "tags": [t], "parameters": [{"name": "limit", "in": "query", "schema": {"type": "integer", "maximum": 200, "default": 50}}, {"name": "cursor", "in": "query", "schema": {"type": "string"}}], "responses": ok({"type": "array", "items": ref})},
                           "post": {"operationId": f"create{t.capitalize()}", "tags": [t], "requestBody": {"required": True, "content": {"application/json": {"schema": ref}}}, "responses": ok(ref)}}
        paths[f"/{t}s/{{id}}"] = {m: {"operationId": f"{v}{t.capitalize()}", "tags": [t], "parameters": [{"name": "id", "in": "path", "required": True, "schema": {"type": "string"}}], "responses": ok(ref)} for m, v in (("get", "get"), ("patch", "update"), ("delete", "delete"))}
    del paths["/audits/{id}"]["patch"], paths["/audits/{id}"]["delete"], paths["/audits"]["post"]
    paths["/postings/{id}"]["delete"]["deprecated"] = True
    paths["/postings/{id}"]["delete"]["description"] = "Use POST /postings/{id}/reversal instead; this goes away in version 4."
    paths["/postings/{id}/reversal"] = {"post": {"operationId": "reversePosting", "tags": ["posting"], "security": [{"oauth": ["postings:reverse"]}], "responses": {"201": {"description": "The posting that undoes the first"}, "409": {"description": "Already reversed"}}}}
    paths["/health"] = {"get": {"operationId": "health", "security": [], "responses": {"200": {"description": "Up"}}}}
    schemas["Problem"] = {"type": "object", "properties": {"code": {"type": "string"}, "detail": {"type": "string"}}}
    json.dump({"openapi": "3.1.0", "info": {"title": "Ledger API", "version": "3.9.1", "description": "Accounts and postings of the ledger."}, "servers": [{"url": "https://ledger.example.org/v3"}, {"url": "https://sandbox.ledger.example.org/v3"}], "security": [{"oauth": []}], "paths": paths,
               "components": {"securitySchemes": {"oauth": {"type": "oauth2", "flows": {"clientCredentials": {"tokenUrl": "https://id.example.org/token", "scopes": {"postings:reverse": "Undo postings", "read": "Read all"}}}}}, "schemas": schemas}}, sys.stdout, separators=(",", ":"))
    print()
