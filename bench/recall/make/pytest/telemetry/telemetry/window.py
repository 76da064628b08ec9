"""Rolling statistics over samples."""
from collections import deque


class Window:
    def __init__(self, size):
        self.size = size
        self.values = deque()

    def push(self, value):
        self.values.append(value)
        if len(self.values) > self.size + 1:
            self.values.popleft()

    @property
    def mean(self):
        return sum(self.values) / len(self.values)

    @property
    def variance(self):
        mean = self.mean
        return sum((v - mean) ** 2 for v in self.values) / (len(self.values) - 1)

    def outliers(self, factor=3):
        limit = factor * self.variance ** 0.5
        return [v for v in self.values if abs(v - self.mean) > limit]


def percentile(values, p):
    ordered = sorted(values)
    return ordered[int(len(ordered) * p / 100)]
