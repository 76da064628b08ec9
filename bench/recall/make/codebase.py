#!/usr/bin/env python3
"""Generated code bases: codebase.py DOMAIN DIR [FILES_PER_MODULE].

Deterministic for a given domain. Also imported by gitrepo.py, which changes
the generated files commit by commit.
"""
import os
import random
import sys

DOMAINS = {
    "shop": dict(seed=11, langs=["py", "ts"],
                 modules=["cart", "orders", "payments", "catalog", "shipping", "users", "search",
                          "notifications", "inventory", "pricing", "reviews", "admin"],
                 nouns=["order", "line_item", "coupon", "invoice", "refund", "address", "product",
                        "variant", "stock_level", "session", "customer", "basket", "shipment"]),
    "ledger": dict(seed=23, langs=["go"],
                   modules=["accounts", "journal", "postings", "statements", "reconcile", "fx",
                            "audit", "limits", "export", "gateway", "scheduler"],
                   nouns=["account", "entry", "posting", "balance", "statement", "rate", "transfer",
                          "batch", "counterparty", "hold", "period", "fee"]),
    "atlas": dict(seed=37, langs=["rs", "py"],
                  modules=["tiles", "geocode", "routing", "elevation", "ingest", "render", "styles",
                           "cache", "api", "projection"],
                  nouns=["tile", "node", "way", "segment", "bbox", "layer", "feature", "label",
                         "raster", "vertex", "shard", "zoom_level"]),
    "clinic": dict(seed=53, langs=["ts", "py"],
                   modules=["appointments", "patients", "billing", "labs", "prescriptions",
                            "calendar", "messaging", "reports", "consent", "staff", "rooms"],
                   nouns=["appointment", "patient", "claim", "lab_result", "prescription", "slot",
                          "message", "report", "consent_form", "room", "referral", "dosage"]),
}
VERBS = ["load", "store", "validate", "compute", "merge", "resolve", "publish", "archive", "expire",
         "normalize", "fetch", "apply", "index", "rebuild", "estimate", "cancel", "retry", "lock"]
ROLES = ["service", "repository", "handlers", "models", "events", "jobs", "client", "cache",
         "mapping", "policy", "metrics", "errors"]
FIELDS = ["id", "status", "amount", "created_at", "owner_id", "version", "priority", "currency",
          "region", "attempts", "expires_at", "checksum"]
CAMEL = lambda s: "".join(p.capitalize() for p in s.split("_"))
LOWER = lambda s: (lambda c: c[0].lower() + c[1:])(CAMEL(s))


class Fn:
    """One function: rendered from its parameters, so that it can be changed."""

    def __init__(self, rng, dom, verb=None, noun=None):
        self.verb = verb or rng.choice(VERBS)
        self.noun = noun or rng.choice(dom["nouns"])
        self.fields = rng.sample(FIELDS, 3)
        self.limit = rng.choice([10, 20, 25, 50, 64, 100, 200, 250, 500, 1000])
        self.timeout = rng.choice([2, 3, 5, 10, 15, 30])
        self.shape = rng.randrange(5)
        self.note = rng.choice([None] * 9 + ["TODO: paginate", "FIXME: not safe under concurrent writes",
                                             "TODO(%s): drop after the migration" % rng.choice(["api", "data", "web"]),
                                             "HACK: the upstream sends strings here"])
        self.log = rng.random() < 0.5
        self.guard = rng.random() < 0.5

    @property
    def name(self):
        return f"{self.verb}_{self.noun}"

    def render(self, lang):
        return getattr(self, "_" + lang)()

    def _py(self):
        a, b, c = self.fields
        n = self.noun
        o = [f"def {self.name}(db, {n}_id, *, limit={self.limit}):"]
        o.append(f'    """{self.verb.capitalize()} one {n.replace("_", " ")} and return it."""')
        if self.note:
            o.append(f"    # {self.note}")
        if self.guard:
            o += [f"    if {n}_id is None:", f'        raise ValueError("{n}_id is required")']
        if self.shape == 0:
            o += [f"    rows = db.query(\"select {a}, {b}, {c} from {n}s where id = %s limit %s\", ({n}_id, limit))",
                  "    if not rows:", "        return None", f"    {n} = dict(rows[0])"]
        elif self.shape == 1:
            o += [f"    {n} = db.get(\"{n}\", {n}_id, timeout={self.timeout})",
                  f"    {n}[\"{a}\"] = {n}.get(\"{a}\") or 0",
                  f"    for child in {n}.get(\"children\", [])[:limit]:",
                  f"        {n}[\"{a}\"] += child[\"{b}\"]"]
        elif self.shape == 2:
            o += [f"    with db.transaction(timeout={self.timeout}) as tx:",
                  f"        {n} = tx.lock(\"{n}\", {n}_id)",
                  f"        if {n}[\"{a}\"] == {n}[\"{b}\"]:",
                  f"            return {n}",
                  f"        tx.update(\"{n}\", {n}_id, {c}=db.now())"]
        elif self.shape == 3:
            o += [f"    key = f\"{n}:{{{n}_id}}:{a}\"", "    cached = db.cache.get(key)",
                  "    if cached is not None:", "        return cached",
                  f"    {n} = db.get(\"{n}\", {n}_id, timeout={self.timeout})",
                  f"    db.cache.set(key, {n}, ttl={self.timeout * 60})"]
        else:
            o += [f"    {n} = None", f"    for attempt in range({max(2, self.timeout // 2)}):", "        try:",
                  f"            {n} = db.remote.{self.verb}({n}_id, {a}=limit)", "            break",
                  "        except TimeoutError:", "            db.sleep(2 ** attempt)"]
        if self.log:
            o.append(f"    log.info(\"{self.verb} {n} id=%s {b}=%s\", {n}_id, {n}[\"{b}\"])")
        o.append(f"    return {n}")
        return o

    def _ts(self):
        a, b, c = map(LOWER, self.fields)
        n, t = LOWER(self.noun), CAMEL(self.noun)
        o = [f"export async function {LOWER(self.name)}(db: Db, {n}Id: string, limit = {self.limit}): Promise<{t} | null> {{"]
        if self.note:
            o.append(f"  // {self.note}")
        if self.guard:
            o += [f"  if (!{n}Id) {{", f"    throw new ValidationError('{n}Id is required');", "  }"]
        if self.shape in (0, 1):
            o += [f"  const {n} = await db.get<{t}>('{self.noun}', {n}Id, {{ timeout: {self.timeout * 1000} }});",
                  f"  if (!{n} || {n}.{a} > limit) return null;"]
        elif self.shape in (2, 3):
            o += [f"  const rows = await db.query<{t}>(`select {a}, {b}, {c} from {self.noun}s where id = $1 limit $2`, [{n}Id, limit]);",
                  f"  const {n} = rows[0] ?? null;", f"  if ({n}) {n}.{a} = rows.reduce((sum, row) => sum + row.{b}, 0);"]
        else:
            o += [f"  const key = `{self.noun}:${{{n}Id}}:{a}`;", f"  const {n} = (await db.cache.get<{t}>(key)) ?? (await db.get<{t}>('{self.noun}', {n}Id));",
                  f"  await db.cache.set(key, {n}, {self.timeout * 60});"]
        if self.log:
            o.append(f"  logger.info('{self.verb} {self.noun}', {{ {n}Id, limit }});")
        o += [f"  return {n};", "}"]
        return o

    def _go(self):
        a, b, c = map(CAMEL, self.fields)
        n, t = LOWER(self.noun), CAMEL(self.noun)
        o = [f"// {CAMEL(self.name)} {self.verb}s the {self.noun.replace('_', ' ')} with the given id.",
             f"func (s *Service) {CAMEL(self.name)}(ctx context.Context, id string) (*{t}, error) {{"]
        if self.note:
            o.append(f"\t// {self.note}")
        o += [f"\tctx, cancel := context.WithTimeout(ctx, {self.timeout}*time.Second)", "\tdefer cancel()"]
        if self.guard:
            o += ["\tif id == \"\" {", f"\t\treturn nil, fmt.Errorf(\"{self.verb} {self.noun}: %w\", ErrMissingID)", "\t}"]
        if self.shape < 3:
            o += [f"\t{n}, err := s.store.{t}(ctx, id)", "\tif err != nil {",
                  f"\t\treturn nil, fmt.Errorf(\"{self.verb} {self.noun} %s: %w\", id, err)", "\t}",
                  f"\tif {n}.{a} > {self.limit} {{", f"\t\t{n}.{b} = {n}.{a} - {self.limit}", "\t}"]
        else:
            o += [f"\tvar {n} *{t}", f"\tfor attempt := 0; attempt < {self.timeout}; attempt++ {{",
                  "\t\tvar err error", f"\t\tif {n}, err = s.remote.{CAMEL(self.verb)}{t}(ctx, id); err == nil {{",
                  "\t\t\tbreak", "\t\t}", "\t\ttime.Sleep(backoff(attempt))", "\t}"]
        if self.log:
            o.append(f"\ts.log.Info(\"{self.verb} {self.noun}\", \"id\", id, \"{c}\", {n}.{c})")
        o += [f"\treturn {n}, nil", "}"]
        return o

    def _rs(self):
        a, b, c = self.fields
        n, t = self.noun, CAMEL(self.noun)
        o = [f"/// {self.verb.capitalize()}s the {n.replace('_', ' ')} with this id.",
             f"pub fn {self.name}(store: &Store, id: u64) -> Result<{t}, Error> {{"]
        if self.note:
            o.append(f"    // {self.note}")
        if self.shape < 2:
            o += [f"    let mut {n} = store.get::<{t}>(id)?;", f"    if {n}.{a} > {self.limit} {{",
                  f"        {n}.{b} = {n}.{a} - {self.limit};", "    }"]
        elif self.shape < 4:
            o += [f"    let {n} = match store.cached::<{t}>(id) {{", f"        Some({n}) => {n},",
                  f"        None => store.load(id, Duration::from_secs({self.timeout})).unwrap(),", "    };"]
        else:
            o += [f"    let {n} = store", f"        .scan::<{t}>({self.limit})", f"        .filter(|{n}| {n}.{a} != {n}.{b})",
                  f"        .find(|{n}| {n}.id == id)", f"        .ok_or(Error::Missing(\"{n}\", id))?;"]
        if self.log:
            o.append(f"    tracing::debug!(id, {c} = ?{n}.{c}, \"{self.verb} {n}\");")
        o += [f"    Ok({n})", "}"]
        return o


class File:
    def __init__(self, path, lang, rng, dom, n):
        self.path, self.lang, self.fns, self.mode = path, lang, [], 0
        self.extra = []
        seen = set()
        while len(self.fns) < n:
            f = Fn(rng, dom)
            if f.name not in seen:
                seen.add(f.name)
                self.fns.append(f)

    def render(self):
        mod = os.path.basename(os.path.dirname(self.path))
        head = {
            "py": ["import logging", "", f"from {mod}.errors import ValidationError", "", "log = logging.getLogger(__name__)"],
            "ts": [f"import {{ Db }} from '../db';", "import { logger } from '../logger';", "import { ValidationError } from './errors';"],
            "go": [f"package {mod}", "", "import (", "\t\"context\"", "\t\"fmt\"", "\t\"time\"", ")"],
            "rs": ["use std::time::Duration;", "", "use crate::{Error, Store};"],
        }[self.lang]
        out = head + self.extra
        for f in self.fns:
            out += ["", ""] if self.lang == "py" else [""]
            out += f.render(self.lang)
        return "\n".join(out) + "\n"


def build(domain, per_module=8, fns=(2, 9)):
    """Returns (domain settings, rng, {path: File}, {path: text})."""
    dom = DOMAINS[domain]
    rng = random.Random(dom["seed"])
    files, plain = {}, {}
    for mod in dom["modules"]:
        for i in range(per_module):
            lang = dom["langs"][i % len(dom["langs"])]
            role = ROLES[i % len(ROLES)]
            suffix = "" if i < len(ROLES) else f"_{rng.choice(dom['nouns'])}"
            base = {"py": f"backend/{mod}/", "ts": f"web/src/{mod}/", "go": f"internal/{mod}/", "rs": f"crates/{domain}-{mod}/src/"}[lang]
            path = f"{base}{role}{suffix}.{lang}"
            if path in files:
                path = f"{base}{role}{suffix}_{i}.{lang}"
            files[path] = File(path, lang, rng, dom, rng.randint(*fns))
        plain[f"config/{mod}.yaml"] = (f"service: {domain}-{mod}\nreplicas: {rng.choice([1, 2, 3])}\nport: {rng.randrange(8000, 9000)}\n"
                                       f"log_level: {rng.choice(['info', 'info', 'debug', 'warn'])}\n"
                                       f"database:\n  pool: {rng.choice([5, 10, 20])}\n  timeout_ms: {rng.choice([500, 1000, 3000])}\n")
        plain[f"docs/{mod}.md"] = f"# {mod.capitalize()}\n\n" + "\n".join(
            f"- `{rng.choice(VERBS)}_{rng.choice(dom['nouns'])}` is called by {rng.choice(dom['modules'])}." for _ in range(rng.randint(4, 20))) + "\n"
    plain["README.md"] = f"# {domain}\n\nModules: {', '.join(dom['modules'])}.\n"
    plain[".gitignore"] = "node_modules/\n__pycache__/\ntarget/\n*.log\n"
    return dom, rng, files, plain


def write(root, files, plain):
    for path, f in files.items():
        p = os.path.join(root, path)
        os.makedirs(os.path.dirname(p), exist_ok=True)
        open(p, "w").write(f.render())
    for path, text in plain.items():
        p = os.path.join(root, path)
        os.makedirs(os.path.dirname(p) or ".", exist_ok=True)
        open(p, "w").write(text)


if __name__ == "__main__":
    _, _, fs, pl = build(sys.argv[1], int(sys.argv[3]) if len(sys.argv) > 3 else 8)
    write(sys.argv[2], fs, pl)
