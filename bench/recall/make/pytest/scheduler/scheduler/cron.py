"""Cron expressions with five fields."""
import datetime as dt

LIMITS = [(0, 59), (0, 23), (1, 31), (1, 12), (0, 7)]
NAMES = {"mon": 1, "tue": 2, "wed": 3, "thu": 4, "fri": 5, "sat": 6, "sun": 7}


class CronError(ValueError):
    pass


def field(text, low, high):
    values = set()
    for part in text.split(","):
        step = 1
        if "/" in part:
            part, step = part.split("/")
            step = int(step)
        if part == "*":
            first, last = low, high
        elif "-" in part:
            first, last = map(int, part.split("-"))
        else:
            first = last = NAMES.get(part) or int(part)
        if first < low or last > high:
            raise CronError(f"{part} is outside {low}-{high}")
        values.update(range(first, last, step) if last > first else [first])
    return values


class Cron:
    def __init__(self, text):
        parts = text.split()
        if len(parts) != 5:
            raise CronError(f"expected 5 fields, got {len(parts)}")
        self.text = text
        self.fields = [field(p, *limit) for p, limit in zip(parts, LIMITS)]

    def matches(self, when):
        minute, hour, day, month, weekday = self.fields
        return (when.minute in minute and when.hour in hour and when.day in day
                and when.month in month and when.isoweekday() in weekday)

    def next(self, after):
        when = after.replace(second=0, microsecond=0)
        for _ in range(60 * 24 * 40):
            when += dt.timedelta(minutes=1)
            if self.matches(when):
                return when
        raise CronError(f"{self.text} never runs")
