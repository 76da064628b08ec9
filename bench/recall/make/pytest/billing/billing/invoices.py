"""Invoice numbers and documents."""
import datetime as dt
import json


class Ledger:
    def __init__(self, path):
        self.path = path
        self.rows = json.loads(path.read_text()) if path.exists() else []

    def add(self, customer, cents, day):
        number = f"{day.year}-{len(self.rows) + 1:05}"
        self.rows.append({"number": number, "customer": customer, "cents": cents, "day": day.isoformat()})
        self.path.write_text(json.dumps(self.rows))
        return number

    def open_amount(self, customer):
        return sum(r["cents"] for r in self.rows if r["customer"] == customer)

    def of_year(self, year):
        return [r for r in self.rows if r["day"].startswith(str(year))]


def due(day, terms):
    days = {"net14": 14, "net30": 30, "net60": 60}[terms]
    return day + dt.timedelta(days=days)


def utc_stamp():
    return dt.datetime.utcfromtimestamp(1767225600).isoformat()
