"""Writes the golden of crates/weir-embed: tokens and vectors of a few texts as the `tokenizers` library and numpy have them.

Usage: python golden.py MODEL_FOLDER OUT_FILE
"""

import json
import sys
from pathlib import Path

from table import Table

# Each is here for something: accents, ideographs, control characters, words that are cut up, words that are dropped.
TEXTS = [
    "How do I read a file line by line?",
    "fn open(path: &Path) -> Result<Self, EmbedError>",
    "error[E0502]: cannot borrow `cache` as mutable because it is also borrowed as immutable",
    "getUserNameById HTTPServerError snake_case_name SCREAMING_CASE kebab-case-name",
    "Crème brûlée at the naïve café, Ångström and Öl, İstanbul, Straße, œuvre",
    "e\u0301 and é are one letter, and so are n\u0303 and ñ",
    "2026-11-15T16:11:40Z 192.168.0.1:8080 0xDEADBEEF 3.14159e-10 1,234,567",
    "The quick brown fox — “jumps” over… the lazy dog's (back)!?",
    "tests/it/main.rs:42:17 panicked at 'assertion failed: left == right'",
    "mixed 中文 and English in one line of text, mostly English",
    "日本語のテキスト",
    "Это написано по-русски",
    "Latin text with a few words по-русски in it, which is fine",
    "zero\u200bwidth soft\u00adhyphen null\x00byte vertical\x0btab form\x0cfeed next\x85line",
    "tab\tand newline\nand carriage\rreturn\u2028separator\u00a0no-break\u3000ideographic",
    "ﬁle oﬀice Ｆｕｌｌｗｉｄｔｈ ① ½ x² H₂O 10µs ≠ ≤ →",
    "🙂 smile 👩‍💻 work 🇩🇪 flag",
    "a" * 100 + " fits, " + "b" * 101 + " does not",
    "antidisestablishmentarianism supercalifragilisticexpialidocious pneumonoultramicroscopic",
    "[CLS is not closed, ##ing is not a piece, and \\n is two signs",
    "SELECT name, count(*) FROM users WHERE created_at > now() - interval '7 days' GROUP BY 1;",
    "",
    " \n\t ",
    "\ue000\ufffd",
    "!",
]

if __name__ == "__main__":
    table = Table.read(Path(sys.argv[1]))
    with open(sys.argv[2], "w", encoding="utf-8", newline="\n") as out:
        for text in TEXTS:
            tokens = table.tokens(text)
            # Every sixteenth number says as much as all of them.
            vector = [round(float(number), 6) for number in table.vector(tokens)[::16]] if tokens else None
            out.write(json.dumps({"text": text, "tokens": tokens, "vector": vector}, ensure_ascii=True) + "\n")
