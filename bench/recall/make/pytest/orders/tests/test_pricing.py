import pytest
from orders.pricing import Line, PriceError, discount, subtotal, total, with_tax

LINES = [Line("mug-blue", 1250, 2), Line("tea-assam", 899, 3), Line("spoon", 320, 6)]


@pytest.mark.parametrize("cents,country,expected", [
    (1000, "DE", 1190), (1000, "FR", 1200), (999, "DE", 1189), (1000, "CH", 1081),
    (1, "DE", 1), (5055, "NL", 6117), (0, "AT", 0), (10, "NL", 12), (333, "AT", 400),
])
def test_with_tax(cents, country, expected):
    assert with_tax(cents, country) == expected


@pytest.mark.parametrize("quantity", range(1, 60))
def test_subtotal_scales(quantity):
    assert subtotal([Line("spoon", 320, quantity)]) == 320 * quantity


def test_subtotal_of_nothing():
    with pytest.raises(PriceError):
        subtotal([])


def test_discount_percent():
    assert discount(2000, "SAVE10") == 1800


def test_discount_never_negative():
    assert discount(300, "MINUS500") == 0


def test_discount_over_hundred_percent_is_refused():
    with pytest.raises(PriceError):
        discount(1000, "SAVE150")


def test_discount_unknown_code():
    with pytest.raises(PriceError, match="unknown discount code"):
        discount(1000, "WELCOME")


def test_total_applies_discount_before_tax():
    lines = LINES
    assert total(lines, "DE", "MINUS500") == 7874


def test_total_unknown_country():
    with pytest.raises(PriceError, match="no tax rate for 'XX'"):
        total(LINES, "XX")
