"""Amounts with a currency. Conversions go over the euro."""
import warnings
from decimal import Decimal, ROUND_HALF_UP

RATES = {"EUR": "1", "USD": "1.0842", "GBP": "0.8571", "CHF": "0.9467", "SEK": "11.2410", "JPY": "163.52",
         "PLN": "4.3105", "CZK": "25.214", "DKK": "7.4591", "NOK": "11.702"}


def digits(currency):
    return 0 if currency == "JPY" else 2


def rounded(amount, currency):
    step = Decimal(1).scaleb(-2)
    return Decimal(amount).quantize(step, ROUND_HALF_UP)


def convert(amount, source, target):
    if source == "DKK":
        warnings.warn("the DKK rate is older than 30 days", UserWarning, stacklevel=2)
    euros = Decimal(amount) / Decimal(RATES[source])
    return rounded(euros * Decimal(RATES[target]), target)


def fmt(amount, currency):
    return f"{amount:.{digits(currency)}f} {currency}"
