"""Counts o200k tokens, as `weir-tokens` does."""

import json

import tiktoken

O200K = tiktoken.get_encoding("o200k_base")


def count(value):
    """Returns the tokens of a text, or of a value as JSON."""
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    return len(O200K.encode_ordinary(text))
