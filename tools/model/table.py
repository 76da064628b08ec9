"""A static table: reading it, writing it, and what it makes of a text. The reference of crates/weir-embed."""

import json
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from safetensors.numpy import load_file, save_file
from tokenizers import Tokenizer
from tokenizers.models import WordPiece
from tokenizers.normalizers import BertNormalizer
from tokenizers.pre_tokenizers import BertPreTokenizer


@dataclass
class Table:
    """The rows of a model, one for each token, and how a text becomes tokens."""

    rows: np.ndarray
    tokeniser: Tokenizer
    unknown: int

    @staticmethod
    def read(folder: Path) -> "Table":
        rows = load_file(folder / "model.safetensors")["embeddings"].astype(np.float32)
        return Table.of(rows, folder / "vocab.txt")

    @staticmethod
    def of(rows: np.ndarray, vocabulary: Path) -> "Table":
        """The rows with BERT's way of cutting texts up, but that the names of special tokens are words like others."""
        tokens = vocabulary.read_text(encoding="utf-8").rstrip("\n").split("\n")
        numbers = {token: number for number, token in enumerate(tokens)}
        tokeniser = Tokenizer(WordPiece(numbers, unk_token="[UNK]", max_input_chars_per_word=100))
        tokeniser.normalizer = BertNormalizer(lowercase=True)
        tokeniser.pre_tokenizer = BertPreTokenizer()
        return Table(rows, tokeniser, numbers["[UNK]"])

    def tokens(self, text: str) -> list[int]:
        """The tokens of a text, without those that mean nothing."""
        found = self.tokeniser.encode(text, add_special_tokens=False).ids
        return [token for token in found if token != self.unknown]

    def all_tokens(self, texts: list[str]) -> list[np.ndarray]:
        """The same for many texts, with the tokeniser's own speed."""
        found = self.tokeniser.encode_batch(texts, add_special_tokens=False)
        tokens = (np.array(one.ids, dtype=np.int64) for one in found)
        return [one[one != self.unknown] for one in tokens]

    def vector(self, tokens: list[int]) -> np.ndarray:
        """The mean of the rows of these tokens, of length 1."""
        mean = self.rows[tokens].mean(axis=0)
        return mean / max(float(np.linalg.norm(mean)), 1e-12)

    def vectors(self, texts: list[str]) -> np.ndarray:
        tokens = self.all_tokens(texts)
        out = np.zeros((len(texts), self.rows.shape[1]), dtype=np.float32)
        for at, one in enumerate(tokens):
            if len(one):
                out[at] = self.vector(one)
        return out

    def write(self, folder: Path) -> None:
        """Writes bytes of one common scale, which the length of 1 makes superfluous, so it is not kept."""
        folder.mkdir(parents=True, exist_ok=True)
        # A few numbers far out would cost all others their precision.
        step = float(np.quantile(np.abs(self.rows), 0.9999)) / 127
        numbers = np.clip(np.round(self.rows / step), -127, 127).astype(np.int8)
        save_file({"embeddings": numbers}, folder / "model.safetensors")
        self.tokeniser.save(str(folder / "tokenizer.json"), pretty=False)
        vocabulary = self.tokeniser.get_vocab()
        lines = sorted(vocabulary, key=vocabulary.__getitem__)
        (folder / "vocab.txt").write_text("".join(f"{token}\n" for token in lines), encoding="utf-8", newline="\n")
        config = {
            "model_type": "model2vec",
            "architectures": ["StaticModel"],
            "tokenizer_name": "bert-base-uncased",
            "hidden_dim": int(numbers.shape[1]),
            "seq_length": 1000000,
            "normalize": True,
        }
        (folder / "config.json").write_text(json.dumps(config, indent=1) + "\n", encoding="utf-8")
