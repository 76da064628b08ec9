"""Station readings: a thread pool parses, asyncio uploads, a process pool aggregates."""
import asyncio
import concurrent.futures as cf
import faulthandler
import json
import random
import sys
import threading
import time

rng = random.Random(7)
STATIONS = [f"st-{n:03d}" for n in range(160)]


def say(level, text):
    print(f"2025-06-02T04:{say.n // 60 % 60:02d}:{say.n % 60:02d}Z {level} [{threading.current_thread().name}] {text}", flush=True)
    say.n += 1


say.n = 0


def payload(n):
    body = json.dumps({"station": STATIONS[n], "values": [rng.randint(-20, 40) for _ in range(5)], "unit": "C"})
    if n % 23 == 22:
        body = body[:-9]
    if n % 41 == 40:
        body = body.replace('"unit": "C"', '"unit": "K"')
    return body


class Unit:
    KNOWN = {"C", "F"}

    @classmethod
    def check(cls, name):
        assert name in cls.KNOWN, f"unit {name} is not supported"
        return name


def parse(body):
    doc = json.loads(body)
    Unit.check(doc["unit"])
    return doc


def aggregate(values):
    def mean(items):
        return sum(items) / len(items)
    return mean([v for v in values if v > 39])


async def upload(doc, slot):
    if slot % 17 == 3:
        await asyncio.wait_for(asyncio.sleep(5), timeout=0.001)
    if slot == 77:
        raise ConnectionResetError(104, "Connection reset by peer", "store-2.internal:9443")
    return len(doc["values"])


def log_error(where, err):
    import traceback
    text = "".join(traceback.format_exception(err)).rstrip()
    say("ERROR", f"{where}: {type(err).__name__}")
    print(text, flush=True)


async def upload_all(docs):
    sent = 0
    for slot, doc in enumerate(docs):
        try:
            sent += await upload(doc, slot)
        except Exception as err:
            log_error(f"upload of {doc['station']}", err)
        else:
            say("INFO", f"uploaded {doc['station']} ({len(doc['values'])} values)")
    return sent


def main():
    docs = []
    bodies = [payload(n) for n in range(len(STATIONS))]
    for n, body in enumerate(bodies):
        try:
            docs.append(parse(body))
            say("INFO", f"parsed {STATIONS[n]} bytes={len(body)}")
        except Exception as err:
            log_error(f"parse of {STATIONS[n]}", err)
    sent = asyncio.run(upload_all(docs))
    say("INFO", f"upload finished: {sent} values")
    with cf.ProcessPoolExecutor(2) as pool:
        for doc, job in [(d, pool.submit(aggregate, d["values"])) for d in docs[:30]]:
            try:
                say("INFO", f"mean of {doc['station']}: {job.result():.1f}")
            except Exception as err:
                log_error(f"aggregate of {doc['station']}", err)
    blocked = threading.Lock()
    blocked.acquire()
    for n in range(6):
        threading.Thread(target=blocked.acquire, name=f"flush-{n}", daemon=True).start()
    time.sleep(0.2)
    say("CRITICAL", "flush did not finish in 30 s, dumping threads")
    faulthandler.dump_traceback(file=sys.stdout)
    sys.exit(3)


main()
