"""A nightly billing run. The clock is simulated, the rest is Python's own logging."""
import logging
import random
import time

r = random.Random(61)
clock = [1788307200.0]


class Stamp(logging.Formatter):
    converter = time.gmtime


class Clock(logging.Filter):
    def filter(self, record):
        record.created = clock[0]
        record.msecs = (clock[0] % 1) * 1000
        return True


handler = logging.StreamHandler()
handler.setFormatter(Stamp("%(asctime)s %(levelname)-8s %(name)s [%(threadName)s] %(message)s"))
handler.addFilter(Clock())
logging.basicConfig(level=logging.INFO, handlers=[handler])
run, rates, mail, db = (logging.getLogger(n) for n in ("billing.run", "billing.rates", "billing.mail", "billing.db"))


class RateMissing(KeyError):
    pass


TABLE = {"EUR": 1.0, "USD": 1.08, "SEK": 11.4}


def convert(amount, currency):
    try:
        return amount / TABLE[currency]
    except KeyError as e:
        raise RateMissing(currency) from e


def invoice(n):
    currency = r.choices(["EUR", "USD", "SEK", "NOK"], [80, 15, 4.6, 0.4])[0]
    amount = round(r.lognormvariate(4, 0.9), 2)
    clock[0] += r.uniform(0.2, 4)
    run.info("invoice %s for account %d: %.2f %s", f"INV-{2026090000 + n}", 4000 + n * 7 % 1900, amount, currency)
    convert(amount, currency)
    took = r.lognormvariate(3, 0.7)
    if n in (411, 903):
        took = 18733 if n == 903 else 9120
    clock[0] += took / 1000
    if took > 150:
        db.warning("slow query: insert into invoices took %d ms", took)
    if r.random() < 0.3:
        mail.info("queued mail for INV-%d", 2026090000 + n)
    if r.random() < 0.004:
        mail.error("mailbox unavailable: account %d, will retry in 600 s", 4000 + n * 7 % 1900)


def main():
    run.info("billing 2.9.3 starting, 3 workers")
    for n in range(1500):
        try:
            invoice(n)
        except RateMissing:
            run.exception("cannot bill INV-%d", 2026090000 + n)
        if n % 200 == 199:
            rates.info("rates refreshed, %d currencies", len(TABLE))
        if n == 1000:
            run.critical("lost connection to the database: server closed the connection unexpectedly")
            clock[0] += 95
            run.info("billing 2.9.3 starting, 3 workers")
            run.warning("resuming after an unclean stop at INV-%d", 2026090000 + n)
    run.info("finished: 1500 invoices seen")


main()
