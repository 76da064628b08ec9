RATES = {"EUR": 1.0, "USD": 1.08, "GBP": 0.85, "SEK": 11.3}


class RateMissing(LookupError):
    pass


def rate(currency):
    try:
        return RATES[currency]
    except KeyError as err:
        raise RateMissing(f"no rate for {currency!r} on 2025-02-28") from err
