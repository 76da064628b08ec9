"""Makes the first table: each token alone through the teacher, 256 principal components, weights by rarity.

Usage: python initialise.py OUT.npz
"""

import sys
import time

import numpy as np

from teacher import CLS, SEP, Teacher

WIDTH = 256


def main() -> None:
    teacher = Teacher()
    vocabulary = teacher.tokeniser.get_vocab()
    count = len(vocabulary)
    began = time.process_time()
    raw = teacher.vectors([[CLS, number, SEP] for number in range(count)], batch=3072)
    print(f"{count} tokens through the teacher: {time.process_time() - began:.0f} s of CPU")

    # What means nothing has no part in the components and no row.
    dead = [number for token, number in vocabulary.items() if token.startswith("[") and token.endswith("]") and len(token) > 2]
    alive = np.ones(count, dtype=bool)
    alive[dead] = False
    centre = raw[alive].mean(axis=0)
    _, spread, components = np.linalg.svd(raw[alive] - centre, full_matrices=False)
    kept = (spread[:WIDTH] ** 2).sum() / (spread**2).sum()
    print(f"{WIDTH} components keep {kept:.3f} of the variance")
    rows = (raw - centre) @ components[:WIDTH].T

    # The vocabulary is ordered by frequency, more or less, and frequencies fall with the rank.
    share = 1 / np.arange(2, count + 2)
    share /= share.sum()
    weight = 1e-4 / (1e-4 + share)
    rows = (rows * weight[:, None]).astype(np.float32)
    rows[~alive] = 0
    np.savez(sys.argv[1], rows=rows)


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    main()
