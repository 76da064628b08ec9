"""From a cart to an order: reserve, price, ship."""
import logging

from .inventory import Inventory
from .pricing import Line, total
from .shipping import cost
from .state import Order

log = logging.getLogger("orders.checkout")
WEIGHTS = {"mug-blue": 380, "spoon": 45, "tea-assam": 120, "kettle": 1900}
PRICES = {"mug-blue": 1250, "spoon": 320, "tea-assam": 899, "kettle": 4990}


def weigh(cart):
    return sum(WEIGHTS[sku] * n for sku, n in cart.items())


def checkout(number, cart, country, inventory: Inventory, code=None):
    order = Order(number)
    for sku, n in cart.items():
        inventory.reserve(number, sku, n)
        log.info("order %s reserved %s x%s, %s left", number, sku, n, inventory.available(sku))
    lines = [Line(sku, PRICES[sku], n) for sku, n in cart.items()]
    price = total(lines, country, code)
    freight = cost(weigh(cart), country)
    if price > 5000:
        log.warning("order %s ships free above 50.00", number)
        freight = 0
    order.move("placed")
    return {"number": number, "price": price, "freight": freight, "state": order.state}
