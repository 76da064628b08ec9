"""Writes Python packages with the usual faults: pylint_gen.py PROJECT DIR."""
import os
import random
import sys

STOCK_WORDS = ["article", "bin", "carrier", "delivery", "forecast", "goods", "intake", "label", "manifest", "order",
               "pallet", "quota", "return", "shelf", "supplier", "transfer", "unit", "voucher", "zone", "batch",
               "count", "damage", "freight", "invoice", "loading"]
CLINIC_WORDS = ["admission", "bed", "chart", "diagnosis", "employee", "finding", "guard", "hygiene", "imaging", "lab",
                "medication", "nurse", "operation", "patient", "referral", "shift", "therapy", "ward", "xray", "visit",
                "allergy", "billing", "consent", "dose"]

STOCK = [
    'def load_{w}s(path, cache={{}}):\n    if path in cache:\n        return cache[path]\n    f = open(path)\n    rows = [l for l in f.read().split("\\n")]\n    cache[path] = rows\n    return rows\n',
    'def find_{w}(rows, key):\n    try:\n        return [r for r in rows if r["id"] == key][0]\n    except:\n        return None\n',
    'def count_{w}s(rows: List[Dict[str, int]]) -> Optional[int]:\n    total = 0\n    for i, row in enumerate(rows):\n        total += row.get("count", 0)\n    if total == None:\n        return None\n    return total\n',
    'def {w}_query(db, name):\n    return db.execute("select * from {w}s where name = \'%s\'" % name).fetchall()\n',
    'def is_{w}_ready(state):\n    if state == "ready":\n        return True\n    else:\n        return False\n',
    'class {W}(object):\n    def __init__(self, id: int, name: str, weight: float = None):\n        self.id = id\n        self.name = name\n        self.weight = weight\n\n    def heavier(self, other: "{W}") -> bool:\n        return self.weight > other.weight\n\n    def describe(self) -> int:\n        return "{{}} ({{}})".format(self.name, self.id)\n',
    'def {w}_by_id(rows: list) -> dict:\n    result = dict([(r.id, r) for r in rows])\n    unused = len(result)\n    return result\n',
    'def update_{w}(item: {W}, values: Dict[str, Any]) -> {W}:\n    for key in values.keys():\n        setattr(item, key, values[key])\n    item.save()\n    return item\n',
    'def total_{w}(prices: Dict[str, float], keys: Iterable[str]) -> int:\n    l = 0.0\n    for k in keys:\n        l += prices.get(k)\n    return l\n',
    'def {w}_summary(items: List[{W}], verbose: bool) -> str:\n    text = ", ".join([i.name for i in items if i.weight is not None and i.weight > 10 and verbose and len(i.name) > 3])\n    return text if verbose == True else None\n',
]

CLINIC = [
    'def read_{w}(path):\n    with open(path, "r") as handle:\n        data = json.load(handle)\n    print("read", path)\n    if len(data) == 0:\n        raise Exception("empty file " + path)\n    return data\n',
    'def schedule_{w}(day: datetime.date, hour: str) -> datetime.datetime:\n    start = datetime.datetime.now()\n    return datetime.datetime(day.year, day.month, day.day, hour)\n',
    'def {w}_total(values: list[int]) -> str:\n    total: int = sum(values) / len(values)\n    return total\n',
    'class {W}Repository:\n    rows: list["{W}"] = []\n\n    def by_number(self, number: int) -> "{W}":\n        for row in self.rows:\n            if row.number == number:\n                return row\n\n    def add(self, row: "{W}") -> None:\n        self.rows.append(row.number)\n',
    '@dataclasses.dataclass\nclass {W}:\n    number: int\n    title: str\n    urgent: bool = False\n\n    def label(self) -> str:\n        return self.titel.upper()\n',
    'def merge_{w}s(left, right):\n    """TODO: handle duplicates"""\n    for l in left:\n        for r in right:\n            if l.number == r.number:\n                if l.urgent or r.urgent:\n                    l.urgent = True\n    return left + right\n',
    'def pick_{w}(choices):\n    password = "changeit"\n    assert choices\n    return random.choice(choices)\n',
    'async def notify_{w}(item: {W}, client: Client) -> bool:\n    answer = client.send(item.title, item.number, retries="3")\n    return answer.ok\n',
]


def stock():
    rng = random.Random(11)
    os.makedirs("stock")
    open("stock/__init__.py", "w").close()
    for w in STOCK_WORDS:
        parts = rng.sample(STOCK[:5] + STOCK[6:], rng.randrange(4, 8))
        body = STOCK[5].format(w=w, W=w.capitalize()) + "\n\n" + "\n\n".join(p.format(w=w, W=w.capitalize()) for p in parts)
        head = "import os, sys\nimport json\nfrom typing import Any, Dict, Iterable, List, Optional\n\n\n"
        with open(f"stock/{w}s.py", "w") as f:
            f.write(head + body)
    with open("stock/cli.py", "w") as f:
        f.write('import subprocess\nimport yaml\nfrom stock.articles import Article, load_articles\nfrom stock.zones import Zone, missing_zone\n\n\n'
                'def main(argv: list[str]) -> int:\n    config = eval(open(argv[1]).read())\n    subprocess.call("tar cf " + argv[2], shell=True)\n'
                '    first = Article("7", name=12)\n    zone: Zone = first\n    print(undefined_total)\n    return load_articles(argv[3], retries=2)\n')
    with open("stock/legacy.py", "w") as f:
        f.write('import hashlib\n\n\ndef checksum(text):\n    return hashlib.md5(text).hexdigest()\n\n\ndef checksum(text, salt):\n    return hashlib.md5(text + salt).hexdigest()\n')


def clinic():
    rng = random.Random(12)
    os.makedirs("clinic")
    open("clinic/__init__.py", "w").close()
    with open("clinic/client.py", "w") as f:
        f.write('class Answer:\n    ok: bool = True\n\n\nclass Client:\n    def send(self, title: str, number: int, retries: int = 1) -> Answer:\n        return Answer()\n')
    for w in CLINIC_WORDS:
        parts = rng.sample(CLINIC[:3] + CLINIC[5:], rng.randrange(3, 7))
        body = "\n\n".join(p.format(w=w, W=w.capitalize()) for p in [CLINIC[4], CLINIC[3]] + parts)
        head = "import dataclasses\nimport datetime\nimport json\nimport random\nfrom clinic.client import Client\n\n\n"
        with open(f"clinic/{w}.py", "w") as f:
            f.write(head + body)
    with open("clinic/rota.py", "w") as f:
        f.write('from clinic.shift import Shift\nfrom clinic.nurse import Nurse, NurseGroup\n\n\n'
                'class Rota(Shift):\n    def label(self, short: bool) -> str:\n        return self.title[:3] if short else self.title\n\n\n'
                'def build(nurses: list[Nurse]) -> dict[str, Shift]:\n    rota = {}\n    for n in nurses:\n        rota[n.number] = Shift(n.number, n.title, "yes")\n    return rota\n\n\n'
                'def swap(a: Nurse | None, b: Nurse) -> None:\n    a.number, b.number = b.number, a.number\n    exec("print(a)")\n')


os.chdir(sys.argv[2])
{"stock": stock, "clinic": clinic}[sys.argv[1]]()
