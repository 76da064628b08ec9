from rates import rate


def line_total(line):
    return line["quantity"] * line["price"] * (1 - line.get("discount", 0))


def tiers(plan, depth=0):
    if plan.get("parent") is None:
        return [plan["name"]]
    return [plan["name"]] + tiers(plan["parent"], depth + 1)


def total(account):
    amount = sum(line_total(line) for line in account["lines"])
    tiers(account["plan"])
    return round(amount / rate(account["currency"]), 2)
