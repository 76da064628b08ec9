"""Topics with wildcards."""


def matches(pattern, topic):
    wanted, given = pattern.split("/"), topic.split("/")
    for w, g in zip(wanted, given):
        if w == "#":
            return True
        if w not in ("+", g):
            return False
    return True


class Router:
    def __init__(self):
        self.routes = []
        self.dropped = 0

    def on(self, pattern, handler):
        self.routes.append((pattern, handler))

    def dispatch(self, topic, message):
        hit = [h for p, h in self.routes if matches(p, topic)]
        for handler in hit:
            handler(topic, message)
        return len(hit)
