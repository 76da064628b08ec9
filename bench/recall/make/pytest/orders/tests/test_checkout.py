import pytest
from orders.checkout import checkout, weigh
from orders.inventory import Inventory


@pytest.fixture
def stock():
    return Inventory({"leipzig": {"mug-blue": 12, "spoon": 40, "tea-assam": 9, "kettle": 2}})


@pytest.mark.parametrize("cart,country,price,freight", [
    ({"spoon": 4}, "DE", 1523, 180),
    ({"mug-blue": 1, "spoon": 2}, "AT", 2268, 252),
    ({"kettle": 1}, "CH", 5389, 0),
    ({"kettle": 1, "spoon": 1}, "NO", 6372, 0),
    ({"tea-assam": 2}, "FR", 2157, 252),
    ({"mug-blue": 4}, "NL", 5000, 768),
], ids=["spoons", "mug-and-spoons", "kettle-swiss", "norway", "tea", "free-freight-limit"])
def test_checkout(stock, cart, country, price, freight):
    order = checkout(2001, cart, country, stock)
    assert order == {"number": 2001, "price": price, "freight": freight, "state": "placed"}


def test_checkout_rolls_back_when_one_line_is_missing(stock):
    with pytest.raises(Exception):
        checkout(2002, {"spoon": 10, "kettle": 5}, "DE", stock)
    assert stock.available("spoon") == 40


def test_weigh_unknown_sku():
    assert weigh({"gift-card": 1}) == 0
