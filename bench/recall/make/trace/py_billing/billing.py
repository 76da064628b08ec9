"""Monthly billing run over generated accounts; every 60th account or so has bad data."""
import logging
import random
import sys

import pricing
import store

logging.basicConfig(stream=sys.stdout, level=logging.INFO, format="%(levelname)-7s %(name)s %(message)s")
log = logging.getLogger("billing.run")
rng = random.Random(42)


def account(n):
    base = {"name": "basic", "parent": None}
    acc = {"id": 10000 + n, "customer": f"customer-{n:04d}", "currency": rng.choice(["EUR", "USD", "GBP"]), "plan": base,
           "lines": [{"quantity": rng.randint(1, 9), "price": rng.choice([4.5, 12.0, 99.0]), "discount": rng.choice([0, 0.1])} for _ in range(rng.randint(1, 6))]}
    if n % 61 == 60:
        acc["currency"] = rng.choice(["CHF", "NOK", "CHF"])
    if n % 97 == 96:
        acc["lines"][0]["price"] = None
    if n % 149 == 148:
        acc["id"] = 10000 + n - 5
    if n == 700:
        acc["customer"] = None
    if n == 533:
        loop = {"name": "team", "parent": None}
        loop["parent"] = {"name": "enterprise", "parent": loop}
        acc["plan"] = loop
    return acc


def bill(db, acc):
    invoice = {"id": acc["id"], "customer": acc["customer"], "total": pricing.total(acc)}
    store.insert(db, invoice)
    return invoice


def safe_bill(db, acc, failed):
    try:
        invoice = bill(db, acc)
        log.info("invoice %s for %s: %.2f EUR (%d lines)", invoice["id"], invoice["customer"], invoice["total"], len(acc["lines"]))
    except Exception as err:
        failed.append((acc["id"], err))
        try:
            retry = {"id": acc["id"], "amount": acc["lines"][0]["price"] * 1}
            log.warning("account %s skipped, first line %s", retry["id"], retry["amount"])
            raise err
        except Exception:
            log.exception("account %s failed", acc["id"])


def main():
    db, failed = store.connect(), []
    for n in range(5000):
        safe_bill(db, account(n), failed)
    log.info("done: %d accounts, %d failed", 5000, len(failed))
    raise ExceptionGroup(f"billing run 2025-02 had failures in {len(failed)} accounts", [err for _, err in failed[-6:]])


main()
