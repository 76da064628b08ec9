import datetime as dt
import pytest
from orders.shipping import carrier_for, cost, delivery_day, label


@pytest.mark.parametrize("grams,carrier", [
    (20, "letter"), (999, "letter"), (1000, "letter"), (1001, "parcel"), (31500, "parcel"),
    (31501, "pallet"), (700000, "pallet"),
])
def test_carrier_limits_are_inclusive(grams, carrier):
    assert carrier_for(grams) == carrier


@pytest.mark.parametrize("country", ["DE", "AT", "FR", "NL", "CH", "NO"])
@pytest.mark.parametrize("grams", [100, 500, 2500, 12000, 90000])
def test_cost_is_positive(grams, country):
    assert cost(grams, country) > 0


def test_cost_to_norway():
    assert cost(2500, "NO") == 1207


def test_delivery_skips_the_weekend():
    friday = dt.date(2026, 3, 6)
    assert delivery_day(friday, "DE") == dt.date(2026, 3, 9)


def test_delivery_midweek():
    assert delivery_day(dt.date(2026, 3, 3), "FR") == dt.date(2026, 3, 5)


def test_label():
    order = {"grams": 2450, "customer": {"name": "Front desk", "address": {"street": "Hafenweg 4", "country": "DE"}}}
    assert label(order) == {
        "to": "Front desk", "street": "Hafenweg 4", "country": "DE",
        "weight": "2.45 kg", "service": "PARCEL",
    }


def test_label_without_address():
    order = {"grams": 2450, "customer": {"name": "Front desk"}}
    assert label(order)["street"] == ""
