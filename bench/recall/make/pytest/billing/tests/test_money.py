import time
from decimal import Decimal
import pytest
from billing.money import RATES, convert, digits, fmt, rounded

AMOUNTS = ["0.01", "1.00", "9.99", "19.90", "100.00", "249.50", "1234.56", "99999.99"]


@pytest.mark.parametrize("amount", AMOUNTS)
@pytest.mark.parametrize("source", sorted(RATES))
@pytest.mark.parametrize("target", sorted(RATES))
def test_convert_gives_two_digits_at_most(amount, source, target):
    value = convert(amount, source, target)
    assert -value.as_tuple().exponent <= digits(target)


@pytest.mark.parametrize("currency", sorted(RATES))
def test_round_trip(currency):
    assert abs(convert(convert("250.00", "EUR", currency), currency, "EUR") - Decimal("250.00")) <= Decimal("0.01")


def test_yen_has_no_digits():
    assert rounded("163.52", "JPY") == Decimal("164")


def test_fmt_yen():
    assert fmt(Decimal("164"), "JPY") == "164 JPY"


def test_unknown_currency():
    with pytest.raises(ValueError, match="unknown currency 'XAU'"):
        convert("1.00", "EUR", "XAU")


def test_rate_refresh_is_cached():
    time.sleep(1.3)
    assert convert("1.00", "EUR", "EUR") == Decimal("1.00")
