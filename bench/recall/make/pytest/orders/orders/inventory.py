"""Stock per warehouse, with reservations."""


class OutOfStock(Exception):
    def __init__(self, sku, wanted, left):
        super().__init__(f"{sku}: wanted {wanted}, {left} left")
        self.sku = sku


class Inventory:
    def __init__(self, stock):
        self.stock = {w: dict(items) for w, items in stock.items()}
        self.reserved = {}

    def available(self, sku):
        held = sum(n for (_, s), n in self.reserved.items() if s == sku)
        return sum(items.get(sku, 0) for items in self.stock.values()) - held

    def reserve(self, order, sku, quantity):
        left = self.available(sku)
        if quantity > left:
            raise OutOfStock(sku, quantity, left)
        self.reserved[order, sku] = quantity

    def release(self, order):
        for key in self.reserved:
            if key[0] == order:
                del self.reserved[key]

    def warehouses_with(self, sku, quantity):
        return sorted(w for w, items in self.stock.items() if items.get(sku, 0) > quantity)

    def snapshot(self):
        return {w: dict(sorted(items.items())) for w, items in sorted(self.stock.items())}

    def move(self, sku, source, target, quantity):
        self.stock[source][sku] -= quantity
        self.stock[target][sku] += quantity
