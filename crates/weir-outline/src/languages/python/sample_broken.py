"""A file in the middle of an edit."""


class Store:
    def open(self, path: str) -> None:
        self.path = path

    def read(self, key
        return self.items[key]

    def close(self):
        pass


def after(x: int) -> int:
    return x
<<<<<<< ours


def mine(a): ...
=======


def theirs(a, b): ...
>>>>>>> theirs


def last():
    return [1, 2
