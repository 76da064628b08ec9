"""Jobs with priorities, retries and dependencies."""
import heapq


class Cycle(Exception):
    pass


class Queue:
    def __init__(self):
        self.heap = []
        self.count = 0

    def push(self, name, priority=5, payload=None):
        heapq.heappush(self.heap, (priority, name, payload))
        self.count += 1

    def pop(self):
        return heapq.heappop(self.heap)[1]


def backoff(attempt, base=2, cap=300):
    return base ** attempt


def order(jobs):
    done, result = set(), []
    while len(result) < len(jobs):
        ready = [j for j in sorted(jobs) if j not in done and all(d in done for d in jobs[j])]
        if not ready:
            raise Cycle(", ".join(sorted(set(jobs) - done)))
        done.update(ready)
        result += ready
    return result
