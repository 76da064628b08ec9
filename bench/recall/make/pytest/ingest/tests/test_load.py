import logging
import random
import pytest
from ingest.records import BadRecord, Loader, RANGE, check, parse

STATIONS = [f"{place}-{n}" for place in ("roof", "yard", "hall", "lab") for n in range(1, 9)]


@pytest.fixture(autouse=True)
def verbose(caplog):
    caplog.set_level(logging.DEBUG, logger="ingest")


def lines(station, count, seed):
    rng = random.Random(seed)
    for k in range(count):
        kind = rng.choice(sorted(RANGE))
        low, high = RANGE[kind]
        value = rng.uniform(low, high * (1.1 if rng.random() < 0.15 else 1.0))
        yield f"{station},{kind},{value:.1f},{1767225600 + 60 * k}"


@pytest.mark.parametrize("station", STATIONS)
@pytest.mark.parametrize("count", [10, 25, 40, 60, 150, 200])
def test_every_record_is_flushed(station, count):
    sink = []
    loader = Loader(sink)
    loader.feed(lines(station, count, f"{station}/{count}"))
    loader.flush()
    print(f"{station}: {sum(map(len, sink))} loaded, {loader.rejected} rejected")
    assert sum(map(len, sink)) + loader.rejected == count


@pytest.mark.parametrize("kind", sorted(RANGE))
def test_limits_are_inclusive(kind):
    low, high = RANGE[kind]
    assert check({"station": "lab-1", "kind": kind, "value": high})
    assert check({"station": "lab-1", "kind": kind, "value": low})


def test_bad_line_does_not_stop_the_batch():
    sink = []
    loader = Loader(sink)
    loader.feed(["roof-1,temp,21.5,1767225600", "roof-1,noise,40,1767225660", "roof-1,temp,21.7,1767225720"])
    loader.flush()
    assert len(sink[0]) == 2


def test_empty_flush_writes_nothing():
    sink = []
    Loader(sink).flush()
    assert sink == []


def test_nan_is_rejected():
    assert not check(parse("hall-3,co2,nan,1767225600"))


def test_duplicates_are_dropped():
    sink = []
    loader = Loader(sink)
    loader.feed(["yard-2,hum,55.0,1767225600"] * 3)
    loader.flush()
    assert [r["stamp"] for r in sink[0]] == [1767225600]


def test_unknown_kind_names_the_station():
    with pytest.raises(BadRecord, match="from lab-9"):
        parse("lab-9,noise,1,1")


def test_decimal_comma():
    assert parse("hall-1,temp,21,5,1767225600")["value"] == 21.5


@pytest.mark.skip(reason="the archive is on another disk")
def test_replay_archive():
    pass
