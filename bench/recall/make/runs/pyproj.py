"""pyproj.py harbour|mailer DIR: writes a small Python project whose tests fail in several ways."""
import pathlib, sys

def put(root, path, text):
    file = pathlib.Path(root, path); file.parent.mkdir(parents=True, exist_ok=True); file.write_text(text)

def harbour(root):
    put(root, "harbour/__init__.py", "")
    put(root, "harbour/berths.py", '''"""Berths and who may lie there."""
from dataclasses import dataclass, field


class NoBerth(Exception):
    """No berth is long and deep enough."""


@dataclass
class Berth:
    name: str
    length: float
    depth: float
    taken: list = field(default_factory=list)

    def fits(self, ship):
        return ship.length <= self.length and ship.draught < self.depth


@dataclass
class Ship:
    name: str
    length: float
    draught: float
    flag: str = "NL"


def assign(berths, ship):
    for berth in sorted(berths, key=lambda berth: berth.length):
        if berth.fits(ship):
            berth.taken.append(ship.name)
            return berth
    raise NoBerth(f"no berth for {ship.name}: {ship.length} m, draught {ship.draught} m")


def dues(ship, days, rates):
    rate = rates[ship.flag]
    if days > 30:
        return round(ship.length * rate * days * 0.9, 2)
    return ship.length * rate * days


def manifest(ship, goods):
    lines = [f"ship: {ship.name}", f"flag: {ship.flag}"]
    for name, tons in goods.items():
        lines.append(f"- {name}: {tons} t")
    lines.append(f"total: {sum(goods.values())} t")
    return "\\n".join(lines)


def customs(ship):
    if ship.flag not in ("NL", "DE", "BE"):
        raise PermissionError(f"flag {ship.flag} needs clearance")
    return "free"
''')
    put(root, "harbour/tides.py", '''"""Heights of the water."""
import math
import warnings


def height(hour, mean=2.0, range_=3.1):
    if hour < 0:
        warnings.warn("hours before midnight are those of the day before", DeprecationWarning, stacklevel=2)
    return mean + range_ / 2 * math.sin(2 * math.pi * hour / 12.42)


def windows(draught, step=0.5):
    found, start = [], None
    hour = 0.0
    while hour <= 24:
        if height(hour) >= draught and start is None:
            start = hour
        if height(hour) < draught and start is not None:
            found.append((start, hour))
            start = None
        hour += step
    return found


def parse(row):
    station, hour, metres = row.split(",")
    return station, int(hour), float(metres)


def moon(day):
    if day % 29 < 3:
        return "spring"
    if 13 <= day % 29 < 16:
        return "spring"
    return "neap"
''')
    put(root, "harbour/pilot.py", '''"""Pilots are called over the radio."""
import asyncio
import logging

log = logging.getLogger("harbour.pilot")


async def call(channel, ship, attempts=3):
    for attempt in range(attempts):
        log.info("calling pilot for %s, attempt %d", ship, attempt + 1)
        try:
            return await asyncio.wait_for(channel.ask(ship), 0.05)
        except asyncio.TimeoutError:
            log.warning("no answer for %s", ship)
    raise ConnectionError(f"no pilot answered for {ship} on channel {channel.number}")
''')
    put(root, "tests/conftest.py", '''import pytest

from harbour.berths import Berth


@pytest.fixture
def berths():
    return [Berth("north", 180.0, 9.5), Berth("south", 240.0, 12.0), Berth("quay-3", 90.0, 5.0)]


@pytest.fixture(scope="session")
def gauge():
    raise FileNotFoundError(2, "gauge device is not there", "/dev/gauge0")


class Channel:
    def __init__(self, number, answers):
        self.number, self.answers = number, answers

    async def ask(self, ship):
        import asyncio
        if ship not in self.answers:
            await asyncio.sleep(1)
        return self.answers[ship]


@pytest.fixture
def channel():
    return Channel(12, {"Ida": "pilot 7"})
''')
    put(root, "tests/test_berths.py", '''import pytest

from harbour.berths import NoBerth, Ship, assign, customs, dues, manifest

RATES = {"NL": 0.5, "DE": 0.55}


@pytest.mark.parametrize("length", range(10, 230, 2))
def test_a_long_berth_takes_every_ship(berths, length):
    assert assign(berths, Ship("Ida", float(length), 3.0)).length >= length


@pytest.mark.parametrize("draught", [2.0, 4.9, 5.0, 9.5, 12.0])
def test_draught_up_to_the_depth_is_allowed(berths, draught):
    assert assign(berths, Ship("Ida", 60.0, draught))


class TestDues:
    @pytest.mark.parametrize("days", range(1, 80))
    def test_dues_grow_with_days(self, days):
        ship = Ship("Ida", 100.0, 5.0)
        assert dues(ship, days, RATES) > dues(ship, days - 1, RATES)

    def test_belgian_ships_pay_too(self):
        assert dues(Ship("Maas", 100.0, 5.0, "BE"), 2, RATES) == 110

    def test_half_metres(self):
        assert dues(Ship("Ida", 33.3, 5.0), 3, RATES) == pytest.approx(50.0, abs=0.01)


def test_no_berth_is_said():
    with pytest.raises(NoBerth, match="no berth for Ida: 300 m"):
        assign([], Ship("Ida", 300.0, 4.0))


def test_customs_of_strangers():
    with pytest.raises(PermissionError):
        customs(Ship("Ida", 10, 2, "BE"))


def test_manifest():
    assert manifest(Ship("Ida", 10, 2), {"coal": 120, "grain": 80}) == "ship: Ida\\nflag: NL\\n- coal: 120 t\\n- grain: 85 t\\ntotal: 205 t"


def test_taken_berths(berths):
    assign(berths, Ship("Ida", 60, 2))
    assign(berths, Ship("Maas", 60, 2))
    assert {berth.name: berth.taken for berth in berths} == {"north": [], "south": ["Maas"], "quay-3": ["Ida"]}
''')
    put(root, "tests/test_tides.py", '''import time

import pytest

from harbour.tides import height, moon, parse, windows


@pytest.mark.parametrize("hour", range(-6, 100))
def test_height_stays_in_its_range(hour):
    assert 0.4 < height(hour) < 3.6


@pytest.mark.parametrize("day", range(0, 29))
def test_moon(day):
    assert moon(day) == ("spring" if day in (0, 1, 2, 14, 15, 16) else "neap")


def test_windows_of_a_deep_ship():
    assert windows(3.0) == [(1.5, 5.0), (14.0, 17.5)]


@pytest.mark.parametrize("row", ["Vlissingen,3,2.4", "Hoek van Holland,12,1.1", "Den Helder,7", "Delfzijl,x,3.0"])
def test_rows(row):
    assert len(parse(row)) == 3


def test_whole_year():
    time.sleep(1.2)
    assert sum(1 for day in range(365) if moon(day) == "spring") == 75


@pytest.mark.parametrize("port", ["east", "west"])
def test_gauge(gauge, port):
    assert gauge.read(port) > 0


@pytest.mark.skip(reason="needs the radar of the tower")
@pytest.mark.parametrize("sector", range(6))
def test_radar(sector):
    pass


@pytest.mark.xfail(reason="leap seconds are not known yet", strict=True)
def test_leap_second():
    assert height(24) == pytest.approx(height(24.0))
''')
    put(root, "tests/test_pilot.py", '''import time

import pytest

from harbour.pilot import call

pytestmark = pytest.mark.asyncio


async def test_pilot_answers(channel):
    assert await call(channel, "Ida") == "pilot 7"


async def test_pilot_is_called_thrice(channel):
    assert await call(channel, "Maas") == "pilot 9"


@pytest.mark.timeout(1)
async def test_fog():
    time.sleep(3)


@pytest.mark.parametrize("seconds", [0.3, 0.6, 0.1])
async def test_waiting(seconds):
    time.sleep(seconds)
''')

def mailer(root):
    put(root, "mailer/__init__.py", "")
    put(root, "mailer/address.py", '''"""Addresses of mail.

>>> parse("a@example.org").host
'example.org'
>>> parse("A@Example.ORG").host
'example.org'
"""
from collections import namedtuple

Address = namedtuple("Address", "name host")


class BadAddress(ValueError):
    pass


def parse(text):
    try:
        name, host = text.split("@")
    except ValueError as error:
        raise BadAddress(f"not an address: {text!r}") from error
    return Address(name.strip(), host.strip())


def fold(text, width=20):
    """Breaks a header.

    >>> fold("to: one two three four", 10)
    ['to: one', 'two three', 'four']
    """
    lines, line = [], ""
    for word in text.split(" "):
        if len(line) + len(word) > width:
            lines.append(line)
            line = ""
        line = f"{line} {word}" if line else word
    lines.append(line)
    return lines
''')
    put(root, "mailer/queue.py", '''"""The queue of what is to be sent."""
import json
import logging

log = logging.getLogger("mailer.queue")


class QueueFull(RuntimeError):
    pass


class Queue:
    def __init__(self, transport, limit=5):
        self.transport, self.limit, self.waiting = transport, limit, []

    def put(self, to, text):
        if len(self.waiting) >= self.limit:
            log.error("queue is full, %d waiting", len(self.waiting))
            raise QueueFull(f"{len(self.waiting)} of {self.limit} are waiting")
        self.waiting.append({"to": to, "text": text, "tries": 0})
        log.info("queued for %s", to)

    def flush(self):
        sent = 0
        for mail in self.waiting:
            try:
                self.transport.send(mail["to"], mail["text"])
                sent += 1
            except OSError:
                mail["tries"] += 1
                log.warning("try %d for %s failed", mail["tries"], mail["to"])
                self.transport.reconnect()
                self.transport.send(mail["to"], mail["text"])
        self.waiting = [mail for mail in self.waiting if mail["tries"]]
        return sent

    def dump(self):
        return json.dumps({"waiting": self.waiting, "limit": self.limit})

    def load(self, text):
        try:
            state = json.loads(text)
        except json.JSONDecodeError as error:
            raise RuntimeError("the state of the queue is broken") from error
        self.waiting = state["waitng"]
''')
    put(root, "mailer/templates.py", '''"""Templates with names to fill in."""


def fill(template, **values):
    for name, value in values.items():
        template = template.replace("{" + name + "}", str(value))
    return template


def plural(count, one, many):
    return f"{count} {one if count == 1 else many}"


def greet(hour):
    if hour < 12:
        return "Good morning"
    if hour < 18:
        return "Good afternoon"
    return "Good evening"
''')
    put(root, "tests/test_address.py", '''import unittest

from mailer.address import BadAddress, fold, parse


class ParseTest(unittest.TestCase):
    def test_parts(self):
        for text in ["a@example.org", "b@example.net", " c @ example.com "]:
            with self.subTest(text=text):
                self.assertEqual(" " in parse(text).name, False)

    def test_two_signs(self):
        self.assertEqual(parse("a@b@example.org").host, "example.org")

    def test_none(self):
        with self.assertRaises(BadAddress):
            parse("a@")

    def test_case_of_hosts(self):
        for host in ["Example.org", "EXAMPLE.net", "example.com"]:
            with self.subTest(host=host):
                self.assertEqual(parse("x@" + host).host, host.lower())


class FoldTest(unittest.TestCase):
    def test_long_word(self):
        self.assertListEqual(fold("to: " + "x" * 30, 20), ["to:", "x" * 20, "x" * 10])

    def test_dicts(self):
        self.assertDictEqual({"lines": len(fold("a b c", 1)), "first": "a"}, {"lines": 3, "first": "b"})
''')
    rows = "\n".join(f'    ("{name}", {hour}),' for hour in range(24) for name in ["reader", "editor", "guest"])
    put(root, "tests/test_templates.py", f'''import pytest

from mailer.templates import fill, greet, plural

ROWS = [
{rows}
]


@pytest.mark.parametrize("name,hour", ROWS)
def test_greeting_names_the_role(name, hour):
    expected = "Good night" if hour < 5 else "Good morning" if hour < 12 else "Good afternoon" if hour < 18 else "Good evening"
    assert fill("{{greeting}}, {{name}}", greeting=greet(hour), name=name) == f"{{expected}}, {{name}}"


@pytest.mark.parametrize("count", range(0, 60))
def test_plural(count):
    assert plural(count, "mail", "mails").split()[0] == str(count)


def test_long_text():
    text = "".join(f"line {{number}} of the letter\\n" for number in range(40))
    other = text.replace("line 17 of", "line 71 of")
    assert fill(text) == other


def test_nothing_is_left_open():
    assert "{{" not in fill("Dear {{name}}, you owe {{amount}}", name="reader")
''')
    put(root, "tests/test_queue.py", '''import logging
from unittest import mock

import pytest

from mailer.queue import Queue, QueueFull


@pytest.fixture
def transport():
    return mock.Mock(spec=["send", "reconnect"])


@pytest.fixture
def queue(transport):
    return Queue(transport)


@pytest.fixture
def broken():
    queue = Queue(None)
    yield queue
    assert not queue.waiting, "mails are left over"


def test_flush_sends_each_once(queue, transport):
    queue.put("a@example.org", "hello")
    transport.send.side_effect = [OSError("connection reset"), None]
    queue.flush()
    transport.send.assert_called_once_with("a@example.org", "hello")


def test_second_failure_is_kept(queue, transport):
    queue.put("a@example.org", "hello")
    transport.send.side_effect = OSError("connection reset by mail.example.org")
    assert queue.flush() == 0


def test_limit(queue):
    for number in range(6):
        queue.put(f"user{number}@example.org", "hello")


def test_state_survives(queue, transport):
    queue.put("a@example.org", "hello")
    other = Queue(transport)
    other.load(queue.dump())
    assert other.waiting == queue.waiting


def test_broken_state(queue):
    queue.load("{waiting: []")


def test_limit_is_said(queue):
    queue.limit = 0
    with pytest.raises(QueueFull) as error:
        queue.put("a@example.org", "hello")
    assert str(error.value) == "queue is full"


def test_leftovers(broken):
    broken.put("a@example.org", "hello")


def test_log(queue, caplog):
    caplog.set_level(logging.INFO)
    queue.put("a@example.org", "hello")
    assert caplog.messages == ["queued for a@example.org", "1 waiting"]


def test_order():
    print("sorting 3 mails")
    assert sorted(["b", "c", "a"], reverse=True) == ["a", "b", "c"]
''')
    put(root, "tests/test_smtp.py", "from mailer.smtp import Session\n\n\ndef test_hello():\n    assert Session().hello()\n")

globals()[sys.argv[1]](sys.argv[2])
