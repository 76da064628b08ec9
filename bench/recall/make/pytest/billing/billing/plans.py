"""Subscription plans, seats and proration."""
import calendar
import datetime as dt
from decimal import Decimal

PLANS = {"free": (0, 3), "team": (12, 25), "business": (22, 250), "enterprise": (39, None)}


class SeatLimit(Exception):
    pass


def monthly(plan, seats):
    price, limit = PLANS[plan]
    if limit is not None and seats > limit:
        raise SeatLimit(f"{plan} allows {limit} seats, not {seats}")
    return price * seats


def prorate(amount, day):
    last = calendar.monthrange(day.year, day.month)[1]
    left = last - day.day
    return (Decimal(amount) * left / last).quantize(Decimal("0.01"))


def next_renewal(day):
    month = day.month + 1
    return day.replace(month=month)


def trial_ends(day):
    return day + dt.timedelta(days=14)
