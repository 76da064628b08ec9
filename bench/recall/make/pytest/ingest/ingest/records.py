"""Reads sensor exports, checks and loads them in batches."""
import logging

log = logging.getLogger("ingest.records")
UNITS = {"temp": "C", "hum": "%", "co2": "ppm", "lux": "lx", "pm25": "ug/m3"}
RANGE = {"temp": (-40, 85), "hum": (0, 100), "co2": (300, 5000), "lux": (0, 100000), "pm25": (0, 999)}


class BadRecord(ValueError):
    pass


def parse(line):
    station, kind, value, stamp = line.split(",")
    log.debug("station %s sent %s=%s at %s", station, kind, value, stamp)
    if kind not in UNITS:
        raise BadRecord(f"unknown kind {kind!r} from {station}")
    return {"station": station, "kind": kind, "value": float(value), "stamp": int(stamp)}


def check(record):
    low, high = RANGE[record["kind"]]
    if not low <= record["value"] <= high:
        log.warning("station %s: %s %s%s is out of range", record["station"], record["kind"], record["value"], UNITS[record["kind"]])
        return False
    return True


class Loader:
    def __init__(self, sink, size=25):
        self.sink, self.size = sink, size
        self.batch, self.rejected = [], 0

    def feed(self, lines):
        for line in lines:
            record = parse(line)
            if check(record):
                self.batch.append(record)
            else:
                self.rejected += 1
            if len(self.batch) == self.size:
                self.flush()

    def flush(self):
        log.info("flush %d records, %d rejected so far", len(self.batch), self.rejected)
        self.sink.append(list(self.batch))
        self.batch = []
