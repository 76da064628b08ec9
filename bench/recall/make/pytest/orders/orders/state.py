"""The life of an order."""

ALLOWED = {
    "draft": {"placed", "cancelled"},
    "placed": {"paid", "cancelled"},
    "paid": {"packed", "refunded"},
    "packed": {"sent"},
    "sent": {"delivered", "returned"},
    "delivered": {"returned"},
    "returned": {"refunded"},
    "cancelled": set(),
    "refunded": set(),
}


class IllegalMove(Exception):
    pass


class Order:
    def __init__(self, number):
        self.number = number
        self.state = "draft"
        self.history = []

    def move(self, state):
        if state not in ALLOWED[self.state]:
            raise IllegalMove(f"order {self.number}: {self.state} -> {state}")
        self.history.append((self.state, state))
        self.state = state
        return self


def summary(orders):
    counts = {}
    for order in orders:
        counts[order.state] = counts.get(order.state, 0) + 1
    return ", ".join(f"{n} {state}" for state, n in counts.items())
