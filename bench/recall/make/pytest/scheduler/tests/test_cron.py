import datetime as dt
import pytest
from scheduler.cron import Cron, CronError, field

START = dt.datetime(2026, 3, 1, 0, 0)
MINUTES = [START + dt.timedelta(minutes=37 * n) for n in range(900)]


@pytest.fixture
def nightly():
    return Cron("30 2 * * *")


@pytest.mark.parametrize("when", MINUTES, ids=lambda t: t.strftime("%m-%dT%H:%M"))
@pytest.mark.parametrize("text", ["* * * * *", "*/7 * * * *", "0-59 6-18 * * mon,tue,wed,thu,fri"],
                         ids=["always", "every-seven", "office-hours"])
def test_next_is_later_and_matches(text, when):
    cron = Cron(text)
    nearest = cron.next(when)
    assert nearest > when and cron.matches(nearest)


@pytest.mark.parametrize("when", MINUTES[:400], ids=lambda t: t.strftime("%m-%dT%H:%M"))
def test_nightly_runs_within_a_day(nightly, when):
    assert nightly.next(when) - when <= dt.timedelta(days=1)


@pytest.mark.parametrize("text,low,high,expected", [
    ("*", 0, 3, {0, 1, 2, 3}), ("1-4", 0, 59, {1, 2, 3, 4}), ("*/15", 0, 59, {0, 15, 30, 45}),
    ("5", 0, 59, {5}), ("mon-fri", 0, 7, {1, 2, 3, 4, 5}), ("10-20/5", 0, 59, {10, 15, 20}),
])
def test_field(text, low, high, expected):
    assert field(text, low, high) == expected


@pytest.mark.parametrize("text", ["61 * * * *", "* 24 * * *", "* * 0 * *", "* * * 13 *", "* * * * 8", "* * * *"])
def test_refused(text):
    with pytest.raises(CronError):
        Cron(text)


def test_sunday_is_zero_or_seven():
    sunday = dt.datetime(2026, 3, 8, 12, 0)
    assert Cron("0 12 * * 0").matches(sunday)


def test_leap_day():
    assert Cron("0 0 29 2 *").next(dt.datetime(2026, 1, 1)) == dt.datetime(2028, 2, 29)
