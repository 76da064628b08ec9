"""Prices in cents, taxes and discounts."""
from dataclasses import dataclass

TAX = {"DE": 19, "FR": 20, "AT": 20, "CH": 8, "NL": 21}


@dataclass(frozen=True)
class Line:
    sku: str
    unit_cents: int
    quantity: int

    @property
    def cents(self):
        return self.unit_cents * self.quantity


class PriceError(ValueError):
    pass


def subtotal(lines):
    if not lines:
        raise PriceError("an order needs at least one line")
    return sum(line.cents for line in lines)


def discount(cents, code):
    """Codes look like SAVE10 (percent) or MINUS500 (cents)."""
    if code is None:
        return cents
    if code.startswith("SAVE"):
        percent = int(code[4:])
        return cents - cents * percent // 100
    if code.startswith("MINUS"):
        return cents - int(code[5:])
    raise PriceError(f"unknown discount code {code!r}")


def with_tax(cents, country):
    rate = TAX[country]
    return cents + cents * rate // 100


def total(lines, country, code=None):
    return discount(with_tax(subtotal(lines), country), code)
