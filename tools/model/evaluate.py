"""Prints nDCG@10 of one or more tables on the sets of a folder. The sets are for measuring only: nothing here trains.

Usage: python evaluate.py SETS_FOLDER MODEL_FOLDER...

A set is a folder with corpus.jsonl (_id, group, title, text, perhaps parent), queries.jsonl (_id, group, text) and
qrels.tsv (query, document or parent, grade). A query searches the documents of its own group, by the cosine alone.
"""

import json
import sys
from collections import defaultdict
from pathlib import Path

import numpy as np

from table import Table


def lines(file: Path) -> list[dict]:
    with file.open(encoding="utf-8") as text:
        return [json.loads(line) for line in text if line.strip()]


def answers(file: Path) -> dict[str, set[str]]:
    found: dict[str, set[str]] = defaultdict(set)
    for line in file.read_text(encoding="utf-8").splitlines():
        query, document, grade = line.split("\t")
        if grade.isdigit() and int(grade) > 0:
            found[query].add(document)
    return found


def ndcg(ranked: list[str], wanted: set[str], depth: int = 10) -> float:
    """Every document with a grade counts the same, as the order of old and new is not a matter of meaning."""
    gain = sum(1 / np.log2(at + 2) for at, one in enumerate(ranked[:depth]) if one in wanted)
    ideal = sum(1 / np.log2(at + 2) for at in range(min(len(wanted), depth)))
    return float(gain / ideal)


def score(table: Table, folder: Path) -> float:
    """The mean over the queries that have an answer."""
    documents = lines(folder / "corpus.jsonl")
    wanted = answers(folder / "qrels.tsv")
    queries = [query for query in lines(folder / "queries.jsonl") if query["_id"] in wanted]
    texts = [f"{one.get('title', '')} {one['text']}".strip() for one in documents]
    vectors = table.vectors(texts)
    asked = table.vectors([query["text"] for query in queries])
    groups = defaultdict(list)
    for at, one in enumerate(documents):
        groups[one["group"]].append(at)
    scores = []
    for query, vector in zip(queries, asked):
        members = np.array(groups[query["group"]])
        order = members[np.argsort(-(vectors[members] @ vector), kind="stable")]
        # Where documents have parents, a parent stands where its best document does.
        names = dict.fromkeys(documents[at].get("parent") or documents[at]["_id"] for at in order[:500])
        scores.append(ndcg(list(names), wanted[query["_id"]]))
    return float(np.mean(scores))


def main() -> None:
    sets = sorted(one for one in Path(sys.argv[1]).iterdir() if (one / "corpus.jsonl").exists())
    print("| table | " + " | ".join(one.name for one in sets) + " | mean |")
    print("| --- |" + " --- |" * (len(sets) + 1))
    for folder in map(Path, sys.argv[2:]):
        table = Table.read(folder)
        scores = [score(table, one) for one in sets]
        cells = " | ".join(f"{one:.3f}" for one in [*scores, float(np.mean(scores))])
        print(f"| {folder.name} | {cells} |", flush=True)


if __name__ == "__main__":
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    if not Path(sys.argv[1]).is_dir():
        sys.exit(f"no sets in {sys.argv[1]}: they are data of others and no part of this project")
    main()
