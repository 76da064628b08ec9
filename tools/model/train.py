"""Trains a table: pairs that belong together come together (InfoNCE), and texts lie to each other as the teacher has them.

Usage: python train.py FIRST.npz PAIRS.jsonl OUT_FOLDER [--cpu SECONDS] [--taught TEXTS]

It stops after so many seconds of CPU and keeps the table that did best on the pairs of packages that it did not see.
"""

import argparse
import json
import time
import zlib
from pathlib import Path

import numpy as np
from scipy.sparse import csr_matrix

from table import Table
from teacher import Teacher, folder

BATCH = 512
# How sharp the choice between the texts of a batch is.
TEMPERATURE = 0.05
# How much the teacher counts beside the pairs.
TEACHING = 10.0
RATE = 2e-3
# Tokens of a text that are read at all.
LONGEST = 256


def means(tokens: list[np.ndarray], count: int) -> csr_matrix:
    """The matrix that makes means of rows: one line per text, one column per token."""
    tokens = [one[:LONGEST] for one in tokens]
    lengths = np.array([len(one) for one in tokens], dtype=np.int64)
    shares = np.repeat(1 / np.maximum(lengths, 1), lengths).astype(np.float32)
    starts = np.concatenate([[0], np.cumsum(lengths)])
    columns = np.concatenate(tokens) if tokens else np.zeros(0, dtype=np.int64)
    return csr_matrix((shares, columns, starts), shape=(len(tokens), count))


class Rows:
    """The table, and Adam for the rows that a step touches."""

    def __init__(self, rows: np.ndarray) -> None:
        # Of length 1 on the average, so that one rate fits.
        self.rows = rows / np.linalg.norm(rows, axis=1)[np.any(rows, axis=1)].mean()
        self.first = np.zeros_like(rows)
        self.second = np.zeros_like(rows)
        self.steps = np.zeros(len(rows), dtype=np.int64)

    def vectors(self, matrix: csr_matrix) -> tuple[np.ndarray, np.ndarray]:
        mean = matrix @ self.rows
        length = np.maximum(np.linalg.norm(mean, axis=1, keepdims=True), 1e-6)
        return mean / length, length

    def step(self, matrix: csr_matrix, vectors: np.ndarray, length: np.ndarray, slope: np.ndarray, rate: float) -> None:
        """Goes down the slope, which is that of the loss in the vectors of length 1."""
        inner = (slope - (slope * vectors).sum(axis=1, keepdims=True) * vectors) / length
        touched = np.unique(matrix.indices)
        slope = matrix[:, touched].T @ inner
        self.steps[touched] += 1
        passed = self.steps[touched][:, None]
        self.first[touched] = 0.9 * self.first[touched] + 0.1 * slope
        self.second[touched] = 0.999 * self.second[touched] + 0.001 * slope * slope
        first = self.first[touched] / (1 - 0.9**passed)
        second = self.second[touched] / (1 - 0.999**passed)
        self.rows[touched] -= (rate * first / (np.sqrt(second) + 1e-8)).astype(np.float32)


def choice(short: np.ndarray, long: np.ndarray) -> tuple[float, np.ndarray, np.ndarray]:
    """InfoNCE in both directions: the loss and its slopes."""
    scores = short @ long.T / TEMPERATURE
    count = len(scores)
    slope = np.zeros_like(scores)
    loss = 0.0
    for axis in (0, 1):
        shares = np.exp(scores - scores.max(axis=axis, keepdims=True))
        shares /= shares.sum(axis=axis, keepdims=True)
        loss -= float(np.log(np.maximum(np.diag(shares), 1e-9)).mean()) / 2
        slope += (shares - np.eye(count, dtype=np.float32)) / (2 * count)
    slope /= TEMPERATURE
    return loss, slope @ long, slope.T @ short


def likeness(vectors: np.ndarray, taught: np.ndarray) -> tuple[float, np.ndarray]:
    """How far the cosines of the texts of a batch are from the teacher's: the loss and its slope."""
    off = vectors @ vectors.T - taught @ taught.T
    return float((off * off).mean()), 4 * off @ vectors / off.size


def rank(rows: Rows, short: csr_matrix, long: csr_matrix) -> float:
    """The mean reciprocal rank of the right text among all that were held back."""
    scores = rows.vectors(short)[0] @ rows.vectors(long)[0].T
    return float((1 / (scores >= np.diag(scores)[:, None]).sum(axis=1)).mean())


def held_back(package: str) -> bool:
    return zlib.crc32(package.encode()) % 20 == 0


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("first", type=Path)
    parser.add_argument("pairs", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("--cpu", type=float, default=600)
    parser.add_argument("--taught", type=int, default=4000)
    asked = parser.parse_args()
    chance = np.random.default_rng(1)
    rows = Rows(np.load(asked.first)["rows"])
    vocabulary = folder() / "vocab.txt"
    table = Table.of(rows.rows, vocabulary)

    pairs = [json.loads(line) for line in asked.pairs.open(encoding="utf-8")]
    chance.shuffle(pairs)
    seen = [pair for pair in pairs if not held_back(pair["package"])]
    unseen = [pair for pair in pairs if held_back(pair["package"])][:2000]
    count = len(rows.rows)

    def matrices(chosen: list[dict]) -> tuple[csr_matrix, csr_matrix]:
        both = [table.all_tokens([pair[side] for pair in chosen]) for side in ("short", "long")]
        return means(both[0], count), means(both[1], count)

    short, long = matrices(seen)
    check = matrices(unseen)
    texts = [pair["short"] for pair in seen[: asked.taught // 2]] + [pair["long"] for pair in seen[: asked.taught // 2]]
    began = time.process_time()
    taught = teacher_vectors(texts)
    taught_matrix = means(table.all_tokens(texts), count)
    print(f"{len(texts)} texts through the teacher: {time.process_time() - began:.0f} s of CPU", flush=True)
    print(f"{len(seen)} pairs to train on; before: {rank(rows, *check):.4f} on {len(unseen)} others", flush=True)

    began, steps, best, kept = time.process_time(), 0, 0.0, rows.rows.copy()
    while (gone := time.process_time() - began) < asked.cpu:
        rate = RATE * max(0.02, 1 - gone / asked.cpu)
        chosen = np.sort(chance.choice(len(seen), BATCH, replace=False))
        one_matrix, other_matrix = short[chosen], long[chosen]
        (one, one_length), (other, other_length) = rows.vectors(one_matrix), rows.vectors(other_matrix)
        loss, one_slope, other_slope = choice(one, other)
        rows.step(one_matrix, one, one_length, one_slope, rate)
        rows.step(other_matrix, other, other_length, other_slope, rate)
        distance = 0.0
        if len(texts) >= BATCH:
            chosen = chance.choice(len(texts), BATCH, replace=False)
            matrix = taught_matrix[chosen]
            vectors, length = rows.vectors(matrix)
            distance, slope = likeness(vectors, taught[chosen])
            rows.step(matrix, vectors, length, TEACHING * BATCH * slope, rate)
        steps += 1
        if steps % 100 == 0:
            reached = rank(rows, *check)
            print(f"{steps} steps, {gone:.0f} s: loss {loss:.3f}, off {distance:.4f}, others {reached:.4f}", flush=True)
            if reached > best:
                best, kept = reached, rows.rows.copy()
    if rank(rows, *check) > best:
        kept = rows.rows
    Table.of(kept, vocabulary).write(asked.out)


def teacher_vectors(texts: list[str]) -> np.ndarray:
    if not texts:
        return np.zeros((0, 1), dtype=np.float32)
    return Teacher().texts(texts)


if __name__ == "__main__":
    main()
