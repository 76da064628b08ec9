#!/usr/bin/env python3
"""Makes large source files of invented programs. usage: source.py python|rust|typescript|widgets|dashboard > file"""
import sys

ENTITIES = {
    "Warehouse": [("code", "str"), ("city", "str"), ("capacity", "int"), ("cooled", "bool")],
    "Article": [("sku", "str"), ("title", "str"), ("weight_grams", "int"), ("hazard_class", "str | None")],
    "StockLevel": [("sku", "str"), ("warehouse", "str"), ("on_hand", "int"), ("reserved", "int")],
    "Supplier": [("name", "str"), ("lead_days", "int"), ("email", "str"), ("blocked", "bool")],
    "PurchaseOrder": [("number", "str"), ("supplier", "str"), ("lines", "list[dict]"), ("expected", "date")],
    "Shipment": [("tracking", "str"), ("carrier", "str"), ("weight_grams", "int"), ("sent_at", "datetime | None")],
    "ReturnCase": [("case_id", "int"), ("sku", "str"), ("reason", "str"), ("refund_cents", "int")],
    "CycleCount": [("warehouse", "str"), ("counted_by", "str"), ("difference", "int"), ("approved", "bool")],
    "Pallet": [("label", "str"), ("warehouse", "str"), ("height_mm", "int"), ("sealed", "bool")],
    "Carrier": [("name", "str"), ("max_grams", "int"), ("cutoff_hour", "int"), ("tracked", "bool")],
}


def snake(s):
    return "".join("_" + c.lower() if c.isupper() else c for c in s).lstrip("_")


def python():
    o = ['"""Stock keeping: articles, warehouses, orders and what moves between them."""', "from __future__ import annotations", "", "import json", "import logging", "import sqlite3", "from dataclasses import asdict, dataclass, field", "from datetime import date, datetime, timedelta", "from typing import Callable, Iterable, Iterator", "",
         'log = logging.getLogger("stock")', "", "SCHEMA_VERSION = 14", "MAX_BATCH = 250", "RESERVATION_LIFETIME = timedelta(minutes=20)", "", "",
         "class StockError(Exception):", '    """The base of all errors of this module."""', "", "", "class NotEnoughStock(StockError):", "    def __init__(self, sku: str, wanted: int, available: int):", '        super().__init__(f"{sku}: wanted {wanted}, only {available} available")', "        self.sku, self.wanted, self.available = sku, wanted, available", "", "",
         "class SupplierBlocked(StockError):", "    pass", "", ""]
    for name, fields in ENTITIES.items():
        t = snake(name)
        key = fields[0][0]
        o += ["@dataclass(slots=True)", f"class {name}:", f'    """One row of the table {t}s."""', ""] + [f"    {f}: {ty}" for f, ty in fields] + ["    version: int = 1", "    tags: list[str] = field(default_factory=list)", "", "    def validate(self) -> list[str]:", "        problems = []"]
        for f, ty in fields:
            if ty == "int":
                o += [f"        if self.{f} < 0:", f'            problems.append("{f} must not be negative")']
            elif ty == "str":
                o += [f"        if not self.{f}.strip():", f'            problems.append("{f} is empty")']
        o += ["        return problems", "", "    def to_json(self) -> str:", "        return json.dumps(asdict(self), default=str, sort_keys=True)", "", ""]
        cols = ", ".join(f for f, _ in fields)
        marks = ", ".join("?" for _ in fields)
        o += [f"class {name}Repository:", f'    """Reads and writes {t}s."""', "", "    def __init__(self, db: sqlite3.Connection):", "        self.db = db", "",
              f"    def get(self, {key}: {fields[0][1]}) -> {name} | None:", f'        row = self.db.execute("select {cols} from {t}s where {key} = ?", ({key},)).fetchone()', f"        return {name}(*row) if row else None", "",
              f"    def save(self, item: {name}) -> None:", "        problems = item.validate()", "        if problems:", '            raise StockError("; ".join(problems))', f'        self.db.execute("insert or replace into {t}s ({cols}) values ({marks})", ({", ".join("item." + f for f, _ in fields)},))', f'        log.debug("saved {t} %s", item.{key})', "",
              f"    def all(self, limit: int = MAX_BATCH) -> Iterator[{name}]:", f'        for row in self.db.execute("select {cols} from {t}s order by {key} limit ?", (limit,)):', f"            yield {name}(*row)", "",
              f"    def delete(self, {key}: {fields[0][1]}) -> bool:", f'        cursor = self.db.execute("delete from {t}s where {key} = ?", ({key},))', "        return cursor.rowcount == 1", "", ""]
    o += '''class StockService:
    """What callers use. Every method is one transaction."""

    def __init__(self, db: sqlite3.Connection, now: Callable[[], datetime] = datetime.utcnow):
        self.db = db
        self.now = now
        self.levels = StockLevelRepository(db)
        self.suppliers = SupplierRepository(db)
        self.shipments = ShipmentRepository(db)

    def available(self, sku: str) -> int:
        total = self.db.execute("select sum(on_hand - reserved) from stock_levels where sku = ?", (sku,)).fetchone()[0]
        return total or 0

    def reserve(self, sku: str, quantity: int, *, allow_partial: bool = False) -> dict[str, int]:
        """Reserves from the fullest warehouse first."""
        available = self.available(sku)
        if available < quantity and not allow_partial:
            raise NotEnoughStock(sku, quantity, available)
        taken: dict[str, int] = {}
        rows = self.db.execute("select warehouse, on_hand - reserved as free from stock_levels where sku = ? order by free desc", (sku,)).fetchall()
        for warehouse, free in rows:
            part = min(free, quantity - sum(taken.values()))
            if part <= 0:
                break
            self.db.execute("update stock_levels set reserved = reserved + ? where sku = ? and warehouse = ?", (part, sku, warehouse))
            taken[warehouse] = part
        self.db.commit()
        return taken

    def release_expired(self) -> int:
        # FIXME: reservations of orders that were split are released twice.
        border = self.now() - RESERVATION_LIFETIME
        cursor = self.db.execute("delete from reservations where made_at < ?", (border,))
        self.db.commit()
        return cursor.rowcount

    def order_from(self, supplier: str, lines: Iterable[dict], cache={}) -> PurchaseOrder:
        found = cache.get(supplier) or self.suppliers.get(supplier)
        cache[supplier] = found
        if found is None or found.blocked:
            raise SupplierBlocked(supplier)
        number = f"PO-{self.now():%Y%m%d}-{self.db.total_changes:05d}"
        return PurchaseOrder(number, supplier, list(lines), date.today() + timedelta(days=found.lead_days))

    def choose_carrier(self, grams: int, carriers: list[Carrier]) -> Carrier:
        fitting = [c for c in carriers if c.max_grams >= grams and c.cutoff_hour > self.now().hour]
        if not fitting:
            raise StockError(f"no carrier takes {grams} g today")
        # TODO: prefer tracked carriers for hazard classes 3 and 8.
        return min(fitting, key=lambda c: c.max_grams)

    def reconcile(self, counts: list[CycleCount]) -> tuple[int, int]:
        """Books the differences that were approved; gives how many were booked and how many wait."""
        booked = waiting = 0
        for count in counts:
            if not count.approved and abs(count.difference) > 3:
                waiting += 1
                continue
            self.db.execute("update stock_levels set on_hand = on_hand + ? where warehouse = ?", (count.difference, count.warehouse))
            booked += 1
        self.db.commit()
        return booked, waiting


def migrate(db: sqlite3.Connection) -> int:
    """Brings the schema to SCHEMA_VERSION; gives how many steps were needed."""
    current = db.execute("pragma user_version").fetchone()[0]
    for step in range(current, SCHEMA_VERSION):
        log.info("migration %d", step + 1)
        db.executescript(MIGRATIONS[step])
        db.execute(f"pragma user_version = {step + 1}")
    return SCHEMA_VERSION - current

'''.split("\n")
    o += ["", "MIGRATIONS = ["]
    for i, (name, fields) in enumerate(list(ENTITIES.items()) + list(ENTITIES.items())[:4]):
        o.append(f'    "create table {snake(name)}s ({", ".join(f for f, _ in fields)});",' if i < 10 else f'    "alter table {snake(name)}s add column archived_at text; create index {snake(name)}_archived on {snake(name)}s (archived_at);",')
    o += ["]", ""]
    print("\n".join(o))


RES = ["patient", "appointment", "invoice", "doctor", "prescription", "laboratory", "room", "referral", "allergy", "vaccination", "message", "document"]


def typescript():
    print("/**\n * @license clinic-client 2.4.0 | MPL-2.0\n * A typed client of the clinic's API, with a small cache and offline queue.\n */\n")
    print("export interface Page<T> {\n  items: T[];\n  next: string | null;\n  total: number;\n}\n\nexport type Listener<T> = (value: T) => void;\n\nexport const API_VERSION = '2026-08';\nexport const DEFAULT_TIMEOUT_MS = 12_000;\nconst MAX_RETRIES = 4;\n")
    print("export class ApiError extends Error {\n  constructor(readonly status: number, readonly code: string, message: string) {\n    super(message);\n    this.name = 'ApiError';\n  }\n\n  get retryable(): boolean {\n    return this.status === 429 || this.status >= 500;\n  }\n}\n\nexport class OfflineError extends Error {}\n")
    fields = {"patient": "birthDate: string;\n  insured: boolean", "appointment": "startsAt: string;\n  minutes: number", "invoice": "cents: number;\n  paidAt: string | null", "doctor": "speciality: string;\n  retired: boolean", "prescription": "drug: string;\n  repeats: number", "laboratory": "sample: string;\n  ready: boolean", "room": "floor: number;\n  beds: number", "referral": "to: string;\n  urgent: boolean", "allergy": "substance: string;\n  severity: 1 | 2 | 3", "vaccination": "product: string;\n  lot: string", "message": "subject: string;\n  readAt: string | null", "document": "mime: string;\n  bytes: number"}
    for x in RES:
        t = x.capitalize()
        print(f"export interface {t} {{\n  id: string;\n  {fields[x]};\n  updatedAt: string;\n}}\n")
    print("""export class HttpClient {
  private token: string | null = null;
  constructor(private readonly base: string, private readonly timeoutMs = DEFAULT_TIMEOUT_MS) {}

  authorize(token: string): void {
    this.token = token;
  }

  async request<T>(method: string, path: string, body?: unknown, attempt = 0): Promise<T> {
    const abort = new AbortController();
    const timer = setTimeout(() => abort.abort(), this.timeoutMs);
    try {
      const answer = await fetch(this.base + path, {
        method,
        signal: abort.signal,
        headers: { 'content-type': 'application/json', 'x-api-version': API_VERSION, ...(this.token ? { authorization: `Bearer ${this.token}` } : {}) },
        body: body === undefined ? undefined : JSON.stringify(body),
      });
      if (!answer.ok) {
        const problem = await answer.json().catch(() => ({ code: 'unknown', message: answer.statusText }));
        throw new ApiError(answer.status, problem.code, problem.message);
      }
      return (await answer.json()) as T;
    } catch (e) {
      if (e instanceof ApiError && e.retryable && attempt < MAX_RETRIES) {
        await sleep(backoff(attempt));
        return this.request<T>(method, path, body, attempt + 1);
      }
      if (e instanceof TypeError) throw new OfflineError('the server cannot be reached');
      throw e;
    } finally {
      clearTimeout(timer);
    }
  }
}

export const sleep = (ms: number): Promise<void> => new Promise((done) => setTimeout(done, ms));

export function backoff(attempt: number): number {
  // HACK: the gateway counts requests in windows of 5 s, so a shorter wait is never enough.
  return Math.max(5_000, 2 ** attempt * 250 + Math.random() * 100);
}

export class Cache<T extends { id: string }> {
  private readonly rows = new Map<string, { value: T; at: number }>();
  private readonly listeners = new Set<Listener<T>>();
  constructor(private readonly lifetimeMs: number, private readonly limit = 500) {}

  get(id: string, now = Date.now()): T | undefined {
    const row = this.rows.get(id);
    if (!row || now - row.at > this.lifetimeMs) return undefined;
    return row.value;
  }

  put(value: T, now = Date.now()): void {
    if (this.rows.size >= this.limit) this.rows.delete(this.rows.keys().next().value as string);
    this.rows.set(value.id, { value, at: now });
    for (const l of this.listeners) l(value);
  }

  subscribe(l: Listener<T>): () => void {
    this.listeners.add(l);
    return () => this.listeners.delete(l);
  }

  clear(): void {
    this.rows.clear();
  }
}
""")
    special = {"appointment": ("  /** Moves an appointment; the doctor is told by message. */\n  async reschedule(id: string, startsAt: string, reason = 'asked by the patient'): Promise<Appointment> {\n    if (new Date(startsAt).getTime() < Date.now()) throw new RangeError('an appointment cannot be moved into the past');\n    return this.http.request<Appointment>('POST', `/appointments/${id}/reschedule`, { startsAt, reason });\n  }\n"),
               "invoice": ("  async pay(id: string, cents: number): Promise<Invoice> {\n    // TODO: refuse partial payments below 500 cents, as the bank does.\n    return this.http.request<Invoice>('POST', `/invoices/${id}/payments`, { cents });\n  }\n"),
               "patient": ("  async merge(keep: string, drop: string): Promise<Patient> {\n    if (keep === drop) throw new RangeError('a patient cannot be merged with itself');\n    this.cache.clear();\n    return this.http.request<Patient>('POST', `/patients/${keep}/merge`, { drop });\n  }\n"),
               "document": ("  async upload(bytes: Uint8Array, mime: string): Promise<Document> {\n    if (bytes.length > 25 * 1024 * 1024) throw new RangeError('documents are limited to 25 MiB');\n    return this.http.request<Document>('PUT', `/documents?mime=${encodeURIComponent(mime)}`, Array.from(bytes));\n  }\n")}
    for n, x in enumerate(RES):
        t = x.capitalize()
        plural = {"laboratory": "laboratories", "allergy": "allergies"}.get(x, x + "s")
        print(f"""export class {t}Api {{
  private readonly cache = new Cache<{t}>({(n + 1) * 15_000});
  constructor(private readonly http: HttpClient, private readonly queue: OfflineQueue) {{}}

  async get(id: string): Promise<{t}> {{
    const known = this.cache.get(id);
    if (known) return known;
    const found = await this.http.request<{t}>('GET', `/{plural}/${{id}}`);
    this.cache.put(found);
    return found;
  }}

  async *list(filter: Partial<{t}> = {{}}): AsyncGenerator<{t}> {{
    let next: string | null = `/{plural}?${{new URLSearchParams(filter as Record<string, string>)}}`;
    while (next) {{
      const page: Page<{t}> = await this.http.request<Page<{t}>>('GET', next);
      yield* page.items;
      next = page.next;
    }}
  }}

  async save(value: {t}): Promise<{t}> {{
    try {{
      const saved = await this.http.request<{t}>('PUT', `/{plural}/${{value.id}}`, value);
      this.cache.put(saved);
      return saved;
    }} catch (e) {{
      if (!(e instanceof OfflineError)) throw e;
      this.queue.push({{ method: 'PUT', path: `/{plural}/${{value.id}}`, body: value }});
      return value;
    }}
  }}

  async remove(id: string): Promise<void> {{
    await this.http.request<void>('DELETE', `/{plural}/${{id}}`);
  }}
{special.get(x, '')}}}
""")
    print("""interface Waiting {
  method: string;
  path: string;
  body: unknown;
}

export class OfflineQueue {
  private waiting: Waiting[] = [];
  get length(): number {
    return this.waiting.length;
  }

  push(w: Waiting): void {
    if (this.waiting.length >= 200) throw new OfflineError('the offline queue is full');
    this.waiting.push(w);
  }

  /** Sends what waits, oldest first; gives how many were sent. */
  async flush(http: HttpClient): Promise<number> {
    let sent = 0;
    while (this.waiting.length > 0) {
      const w = this.waiting[0];
      try {
        await http.request(w.method, w.path, w.body);
      } catch (e) {
        if (e instanceof OfflineError) return sent;
        if (e instanceof ApiError && e.status === 409) console.warn(`conflict dropped: ${w.path}`);
      }
      this.waiting.shift();
      sent += 1;
    }
    return sent;
  }
}

export class Clinic {
  readonly http: HttpClient;
  readonly queue = new OfflineQueue();""")
    for x in RES:
        print(f"  readonly {x}: {x.capitalize()}Api;")
    print("\n  constructor(base = 'https://clinic.example.org/api') {\n    this.http = new HttpClient(base);")
    for x in RES:
        print(f"    this.{x} = new {x.capitalize()}Api(this.http, this.queue);")
    print("  }\n}")


def widgets():
    """A bundle of small widgets for a shop, in plain JavaScript, to be minified."""
    print("/*! shopkit 3.1.0 | MIT | shop team */\nconst REGISTRY = new Map();\nexport const version = '3.1.0';\nexport function define(name, make) { if (REGISTRY.has(name)) throw new Error('shopkit: widget ' + name + ' is defined twice'); REGISTRY.set(name, make); }\nexport function mount(root = document) { for (const node of root.querySelectorAll('[data-widget]')) { const make = REGISTRY.get(node.dataset.widget); if (!make) { console.warn('shopkit: unknown widget ' + node.dataset.widget); continue; } node.shopkit = make(node); } }")
    print("async function call(method, path, body) { const answer = await fetch('/api/v3' + path, { method, headers: { 'content-type': 'application/json', 'x-shopkit': version }, body: body && JSON.stringify(body) }); if (answer.status === 402) throw new Error('shopkit: payment required'); if (!answer.ok) throw new Error('shopkit: ' + method + ' ' + path + ' gave ' + answer.status); return answer.json(); }")
    print("export const money = (cents, currency = 'EUR') => new Intl.NumberFormat('en', { style: 'currency', currency }).format(cents / 100);")
    things = ["basket", "wishlist", "rating", "review-form", "address-form", "coupon", "carousel", "size-guide", "stock-badge", "price-alert", "newsletter", "store-finder", "compare-table", "gift-wrap", "search-box", "filter-panel", "breadcrumb", "recently-seen", "bundle-offer", "delivery-date", "login-box", "order-history", "return-label", "chat-button", "cookie-bar", "video-player", "zoom-image", "share-links", "loyalty-card", "invoice-list"]
    for n, t in enumerate(things):
        c = "".join(w.capitalize() for w in t.split("-"))
        print(f"""
export class {c} {{
  constructor(node) {{ this.node = node; this.state = {{ items: [], busy: false, error: null, page: {n} }}; this.timer = setInterval(() => this.refresh(), {(n + 3) * 1000}); node.addEventListener('click', (event) => this.onClick(event)); this.refresh(); }}
  async refresh() {{
    if (this.state.busy) return;
    this.state.busy = true;
    try {{ const data = await call('GET', '/{t}?page=' + this.state.page); this.state.items = data.items.filter((item) => item.visible !== false).map((item) => ({{ ...item, label: item.title.trim(), price: money(item.cents) }})); this.state.error = null; }}
    catch (error) {{ this.state.error = error.message; this.node.dispatchEvent(new CustomEvent('{t}:error', {{ detail: error }})); }}
    finally {{ this.state.busy = false; this.render(); }}
  }}
  async onClick(event) {{
    const action = event.target.closest('[data-action]')?.dataset.action;
    if (!action) return;
    const chosen = this.state.items.find((item) => String(item.id) === event.target.dataset.id);
    if (!chosen) {{ console.warn('{t}: nothing chosen'); return; }}
    await call('POST', '/{t}/' + chosen.id + '/' + action, {{ quantity: Number(event.target.dataset.quantity || 1) }});
    this.node.dispatchEvent(new CustomEvent('{t}:changed', {{ bubbles: true, detail: {{ id: chosen.id, action }} }}));
  }}
  render() {{ this.node.classList.toggle('is-busy', this.state.busy); this.node.innerHTML = this.state.error ? '<p class="error">The {t.replace('-', ' ')} could not be loaded</p>' : this.state.items.map((item) => '<li data-id="' + item.id + '"><b>' + item.label + '</b><i>' + item.price + '</i></li>').join(''); }}
  destroy() {{ clearInterval(this.timer); this.node.replaceChildren(); }}
}}
define('{t}', (node) => new {c}(node));""")
    print("\nif (typeof document !== 'undefined') document.addEventListener('DOMContentLoaded', () => mount());")


def dashboard():
    """The state of a dashboard for wind parks: actions, reducers, selectors, checks and words, in TypeScript."""
    print("/**\n * @license gustboard v0.9.4 (c) wind park team, BSD-2-Clause\n */\ntype Action = { type: string; payload?: any };\nexport const WS_URL = 'wss://telemetry.example.org/stream';\nexport const REST = '/gust/api';")
    print("export class GustError extends Error { constructor(readonly code: number, text: string) { super('GUST-' + code + ': ' + text); } }")
    slices = {"turbine": ["rpm", "pitch", "yaw", "power"], "gearbox": ["oilTemp", "vibration", "ratio"], "blade": ["angle", "icing", "strain"], "tower": ["sway", "height"], "grid": ["voltage", "frequency", "feedIn"], "weather": ["windSpeed", "gusts", "humidity"], "alarm": ["level", "since", "muted"], "crew": ["shift", "boat", "onSite"],
              "maintenance": ["due", "hours", "parts"], "market": ["price", "forecast"], "forecast": ["horizon", "energy"], "camera": ["zoom", "pan"], "lidar": ["range", "beams"], "cable": ["load", "temperature"], "substation": ["tap", "breaker"], "met": ["mast", "pressure"], "vessel": ["draft", "speed"], "permit": ["number", "expires"], "report": ["month", "yieldMwh"], "user": ["role", "locale"]}
    for n, (s, fs) in enumerate(slices.items()):
        c = s.capitalize()
        init = ", ".join(f"{f}: null as any" for f in fs)
        print(f"""
const initial{c} = {{ {init}, loadedAt: 0, stale: true }};
export const load{c} = (park: string) => async (dispatch: (a: Action) => void) => {{
  dispatch({{ type: '{s}/loading' }});
  const answer = await fetch(`${{REST}}/parks/${{park}}/{s}`);
  if (answer.status === 404) throw new GustError({4100 + n}, 'no {s} data for park ' + park);
  if (!answer.ok) return dispatch({{ type: '{s}/failed', payload: answer.status }});
  dispatch({{ type: '{s}/loaded', payload: await answer.json() }});
}};
export function {s}Reducer(state = initial{c}, action: Action) {{
  switch (action.type) {{
    case '{s}/loading': return {{ ...state, stale: true }};
    case '{s}/loaded': return {{ ...state, ...action.payload, stale: false, loadedAt: Date.now() }};
    case '{s}/failed': return {{ ...state, stale: true, loadedAt: -1 }};""")
        for f in fs:
            print(f"    case '{s}/set{f}': if (action.payload === undefined) throw new GustError({4200 + n}, '{f} is missing'); return {{ ...state, {f}: action.payload }};")
        print("    default: return state;\n  }\n}")
        for f in fs:
            print(f"export const select{c}{f[0].upper() + f[1:]} = (root: any) => root.{s}?.{f} ?? null;\nexport const set{c}{f[0].upper() + f[1:]} = (payload: any): Action => ({{ type: '{s}/set{f}', payload }});")
    print("\nexport const words: Record<string, Record<string, string>> = {")
    for lang, pre in {"en": ("Show the", "No data for the", "Change the"), "de": ("Zeige", "Keine Daten für", "Ändere"), "da": ("Vis", "Ingen data for", "Skift")}.items():
        print(f"  {lang}: {{ " + ", ".join(f"'{s}.{f}.{k}': '{p} {f} ({s})'" for s, fs in slices.items() for f in fs for k, p in zip(("show", "none", "edit"), pre)) + " },")
    print("};\nexport function shutdownAll(reason: string) { if (!reason) throw new GustError(4999, 'a shutdown needs a reason'); return fetch(REST + '/parks/shutdown', { method: 'POST', body: JSON.stringify({ reason, confirm: 'YES' }) }); }")


def rust():
    """The messages of an invented protocol between trams and their depot: one type a message, with reading and writing."""
    print("//! Messages between a tram and its depot, protocol version 9.\n//!\n//! Every message is a tag, a length and fields in network order. Invariant: `decode(encode(m)) == m`.\n\nuse std::fmt;\nuse std::io::{self, Read, Write};\n\npub const PROTOCOL_VERSION: u16 = 9;\npub const MAX_FRAME: usize = 64 * 1024;\nconst CHECKSUM_SEED: u32 = 0x1d0f_5eed;\n")
    print("#[derive(Debug)]\npub enum ProtocolError {\n    Short { wanted: usize, got: usize },\n    UnknownTag(u16),\n    BadChecksum { expected: u32, found: u32 },\n    TooLong(usize),\n    Io(io::Error),\n}\n\nimpl fmt::Display for ProtocolError {\n    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {\n        match self {\n            Self::Short { wanted, got } => write!(f, \"message too short: wanted {wanted} bytes, got {got}\"),\n            Self::UnknownTag(tag) => write!(f, \"unknown tag {tag:#06x}\"),\n            Self::BadChecksum { expected, found } => write!(f, \"checksum {found:08x} does not fit, expected {expected:08x}\"),\n            Self::TooLong(length) => write!(f, \"a frame of {length} bytes is longer than {MAX_FRAME}\"),\n            Self::Io(error) => error.fmt(f),\n        }\n    }\n}\n\nimpl From<io::Error> for ProtocolError {\n    fn from(error: io::Error) -> Self {\n        Self::Io(error)\n    }\n}\n")
    print("pub trait Message: Sized {\n    const TAG: u16;\n    fn encode(&self, out: &mut Vec<u8>);\n    fn decode(input: &[u8]) -> Result<Self, ProtocolError>;\n}\n\nfn take<const N: usize>(input: &[u8], at: &mut usize) -> Result<[u8; N], ProtocolError> {\n    let end = *at + N;\n    let part = input.get(*at..end).ok_or(ProtocolError::Short { wanted: end, got: input.len() })?;\n    *at = end;\n    Ok(part.try_into().expect(\"the length was checked\"))\n}\n")
    nouns = ["Position", "Speed", "Brake", "Door", "Battery", "Pantograph", "Signal", "Switch", "Driver", "Passenger", "Ticket", "Announcement", "Heating", "Light", "Camera", "Alarm", "Depot", "Timetable", "Wheel", "Sand"]
    verbs = ["Report", "Request", "Command", "Ack"]
    fields = [("vehicle", "u32"), ("line", "u16"), ("at_ms", "u64"), ("value", "i32"), ("flags", "u16"), ("sequence", "u32"), ("quality", "u8")]
    tag = 0x0100
    for n, noun in enumerate(nouns):
        for v, verb in enumerate(verbs):
            name = f"{noun}{verb}"
            fs = fields[: 3 + (n + v) % 5]
            tag += 1
            size = sum(int(t[1:]) // 8 for _, t in fs)
            print(f"/// {verb} about the {noun.lower()}, {size} bytes.\n#[derive(Debug, Clone, PartialEq, Eq)]\npub struct {name} {{")
            for f, t in fs:
                print(f"    pub {f}: {t},")
            print(f"}}\n\nimpl Message for {name} {{\n    const TAG: u16 = {tag:#06x};\n\n    fn encode(&self, out: &mut Vec<u8>) {{")
            for f, t in fs:
                print(f"        out.extend_from_slice(&self.{f}.to_be_bytes());")
            print("    }\n\n    fn decode(input: &[u8]) -> Result<Self, ProtocolError> {\n        let mut at = 0;\n        Ok(Self {")
            for f, t in fs:
                print(f"            {f}: {t}::from_be_bytes(take(input, &mut at)?),")
            print("        })\n    }\n}\n")
            if name == "BrakeCommand":
                print("impl BrakeCommand {\n    /// The emergency brake ignores the sequence number: it must work on a broken link.\n    pub fn emergency(vehicle: u32, line: u16, at_ms: u64) -> Self {\n        // SAFETY CASE 14: the value is fixed, never computed.\n        let all = Self { vehicle, line, at_ms, value: -1000, flags: 0xffff, sequence: 0, quality: 0 };\n        all\n    }\n}\n")
    print("pub fn checksum(bytes: &[u8]) -> u32 {\n    // TODO: use the table of the new boards, this is the slow one.\n    bytes.iter().fold(CHECKSUM_SEED, |sum, byte| sum.rotate_left(5) ^ u32::from(*byte))\n}\n\n/// Writes one frame; gives how many bytes it took.\npub fn write_frame<M: Message>(to: &mut impl Write, message: &M) -> Result<usize, ProtocolError> {\n    let mut body = Vec::new();\n    message.encode(&mut body);\n    if body.len() > MAX_FRAME {\n        return Err(ProtocolError::TooLong(body.len()));\n    }\n    to.write_all(&M::TAG.to_be_bytes())?;\n    to.write_all(&(body.len() as u32).to_be_bytes())?;\n    to.write_all(&body)?;\n    to.write_all(&checksum(&body).to_be_bytes())?;\n    Ok(body.len() + 10)\n}\n\n/// Reads the tag and the body of one frame.\npub fn read_frame(from: &mut impl Read) -> Result<(u16, Vec<u8>), ProtocolError> {\n    let (mut tag, mut length, mut sum) = ([0; 2], [0; 4], [0; 4]);\n    from.read_exact(&mut tag)?;\n    from.read_exact(&mut length)?;\n    let length = u32::from_be_bytes(length) as usize;\n    if length > MAX_FRAME {\n        return Err(ProtocolError::TooLong(length));\n    }\n    let mut body = vec![0; length];\n    from.read_exact(&mut body)?;\n    from.read_exact(&mut sum)?;\n    let (expected, found) = (checksum(&body), u32::from_be_bytes(sum));\n    if expected != found {\n        return Err(ProtocolError::BadChecksum { expected, found });\n    }\n    Ok((u16::from_be_bytes(tag), body))\n}")


{"python": python, "rust": rust, "typescript": typescript, "widgets": widgets, "dashboard": dashboard}[sys.argv[1]]()
