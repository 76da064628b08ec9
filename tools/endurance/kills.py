"""Decides by a seed what is killed and when. Bounded: at most so many kills of each kind."""

import random
import threading


class Kills:
    """`chance` of each kind is how likely one call is killed, and `most` how often that happens in the whole run."""

    CHANCE = {"hook": 0.02, "mcp": 0.08, "sync": 0.35}

    def __init__(self, seed: int, most: int):
        self._lock = threading.Lock()
        self._most = most
        self._random = {kind: random.Random(f"{seed}-{kind}") for kind in [*self.CHANCE, "server", "upgrade"]}
        self.made = dict.fromkeys(self._random, 0)

    def after(self, kind: str, longest: float) -> float | None:
        """Returns after how many seconds a call that is about to begin is killed, if it is."""
        with self._lock:
            chosen, moment = self._random[kind].random() < self.CHANCE[kind], self._random[kind].random()
            return moment * longest if chosen and self.made[kind] < self._most else None

    def pause(self, kind: str, shortest: float, longest: float) -> float:
        with self._lock:
            return self._random[kind].uniform(shortest, longest)

    def may(self, kind: str) -> bool:
        with self._lock:
            return self.made[kind] < self._most

    def done(self, kind: str) -> None:
        with self._lock:
            self.made[kind] += 1
