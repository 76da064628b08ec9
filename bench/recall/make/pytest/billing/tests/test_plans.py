import datetime as dt
from decimal import Decimal
import pytest
from billing.plans import PLANS, SeatLimit, monthly, next_renewal, prorate, trial_ends

DAYS = [dt.date(2026, 1, 1) + dt.timedelta(days=n) for n in range(365)]


@pytest.mark.parametrize("day", DAYS, ids=str)
def test_next_renewal_is_next_month(day):
    renewal = next_renewal(day)
    assert renewal > day and renewal.day <= day.day


@pytest.mark.parametrize("plan", sorted(PLANS))
@pytest.mark.parametrize("seats", [0, 1, 3, 10, 25, 26, 100, 250, 251, 1000])
def test_seat_limits(plan, seats):
    limit = PLANS[plan][1]
    if limit is None or seats <= limit:
        assert monthly(plan, seats) == PLANS[plan][0] * seats
    else:
        with pytest.raises(SeatLimit):
            monthly(plan, seats)


def test_prorate_first_day_is_the_full_price():
    assert prorate(300, dt.date(2026, 4, 1)) == Decimal("300.00")


def test_prorate_last_day():
    assert prorate(300, dt.date(2026, 4, 30)) == Decimal("10.00")


@pytest.mark.parametrize("day", DAYS[:60], ids=str)
def test_trial_is_two_weeks(day):
    assert (trial_ends(day) - day).days == 14


@pytest.mark.skip(reason="yearly plans start in version 4")
def test_yearly():
    pass
