"""The public items of Python files, by Python's own parser.

Reads file names from standard input, and prints a line of JSON for each:
{"file": …, "items": [{"path": …, "signature": …}]}, or {"file": …, "error": …} where Python cannot parse it.

Public is what has no leading underscore, and names with two on both sides. A plain `__all__` decides for the module. An
import is an item where `__all__` names it, where it says `a as a` or `from .a import *`, or where a file only imports.
"""

import ast
import io
import json
import sys
import tokenize
from bisect import bisect_left

LONG_VALUE = 80
SKIPPED = {tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT, tokenize.ENCODING}


class File:
    def __init__(self, source: bytes):
        self.tree = ast.parse(source)
        # As `ast` counts: columns are bytes of UTF-8.
        encoding, _ = tokenize.detect_encoding(io.BytesIO(source).readline)
        self.text = source.decode(encoding)
        self.lines = io.StringIO(self.text, newline=None).read().split("\n")
        self.tokens = []
        for token in tokenize.generate_tokens(io.StringIO("\n".join(self.lines)).readline):
            if token.type not in SKIPPED and token.string:
                self.tokens.append(((token.start[0], self.column(*token.start)), token.string))
        self.starts = [start for start, _ in self.tokens]
        self.items = []
        self.all = plain_all(self.tree)

    def column(self, line: int, characters: int) -> int:
        text = self.lines[line - 1] if line <= len(self.lines) else ""
        return len(text[:characters].encode())

    def between(self, start, end) -> str:
        """The tokens from a place to before another."""
        first, last = bisect_left(self.starts, start), bisect_left(self.starts, end)
        return " ".join(string for _, string in self.tokens[first:last])

    def bytes_of(self, start, end) -> int:
        """How many bytes there are between two places."""
        if start[0] == end[0]:
            return end[1] - start[1]
        between = sum(len(line.encode()) + 1 for line in self.lines[start[0] : end[0] - 1])
        return len(self.lines[start[0] - 1].encode()) + 1 - start[1] + between + end[1]

    def head(self, node) -> str:
        """From `def` or `class` to before the colon of the body."""
        at = bisect_left(self.starts, (node.lineno, node.col_offset))
        depth, lambdas, strings = 0, 0, []
        for _, string in self.tokens[at:]:
            if string in "([{":
                depth += 1
            elif string in ")]}":
                depth -= 1
            elif string == "lambda" and depth == 0:
                lambdas += 1
            elif string == ":" and depth == 0:
                if not lambdas:
                    break
                lambdas -= 1
            strings.append(string)
        return " ".join(strings)

    def add(self, above, name, signature, public=True):
        if public:
            self.items.append({"path": ".".join([*above, name]), "signature": signature})

    def body(self, body, above):
        for node in body:
            self.statement(node, above)

    def is_public(self, name, above):
        if not above and self.all is not None:
            return name in self.all
        return is_public(name)

    def statement(self, node, above):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            self.add(above, node.name, self.head(node), self.is_public(node.name, above))
        elif isinstance(node, ast.ClassDef):
            if self.is_public(node.name, above):
                self.add(above, node.name, self.head(node))
                self.body(node.body, [*above, node.name])
        elif isinstance(node, (ast.Assign, ast.AnnAssign)):
            self.assignment(node, above)
        elif type(node).__name__ == "TypeAlias":
            name = node.name.id
            signature = self.between((node.lineno, node.col_offset), (node.end_lineno, node.end_col_offset))
            self.add(above, name, signature, self.is_public(name, above))
        elif isinstance(node, (ast.If, ast.Try, ast.With, ast.AsyncWith)) or type(node).__name__ == "TryStar":
            self.body(node.body, above)
            for handler in getattr(node, "handlers", []):
                self.body(handler.body, above)
            self.body(getattr(node, "orelse", []), above)
            self.body(getattr(node, "finalbody", []), above)

    def assignment(self, node, above):
        targets = node.targets if isinstance(node, ast.Assign) else [node.target]
        names = [name for target in targets for name in bound(target)]
        names = [name for name in names if self.is_public(name, above)]
        start, end = (node.lineno, node.col_offset), (node.end_lineno, node.end_col_offset)
        signature = self.between(start, end)
        if node.value is not None:
            value = self.start_of_value(targets, node)
            if self.bytes_of(value, end) > LONG_VALUE:
                signature = self.between(start, value) + " …"
        for name in names:
            self.add(above, name, signature)

    def start_of_value(self, targets, node):
        """After the last `=`: a bracket around the value is a part of it."""
        before = getattr(node, "annotation", None) or targets[-1]
        at = bisect_left(self.starts, (before.end_lineno, before.end_col_offset))
        while self.tokens[at][1] != "=":
            at += 1
        return self.tokens[at + 1][0]

    def imports(self):
        """What is offered on, of what is imported at the top."""
        found = []
        other = []
        for node in flat(self.tree.body):
            if isinstance(node, (ast.Import, ast.ImportFrom)):
                found.append(node)
            elif isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
                other.append(node.name)
            elif isinstance(node, (ast.Assign, ast.AnnAssign)):
                targets = node.targets if isinstance(node, ast.Assign) else [node.target]
                other.extend(name for target in targets for name in bound(target))
        only = all(name.startswith("__") for name in other)
        for node in found:
            relative = isinstance(node, ast.ImportFrom) and node.level > 0
            signature = self.between((node.lineno, node.col_offset), (node.end_lineno, node.end_col_offset))
            for alias in node.names:
                name = alias.asname or alias.name.split(".")[0]
                if self.all is not None:
                    offered = name in self.all
                else:
                    says_so = alias.name == "*" and relative or alias.asname is not None and alias.asname == alias.name
                    offered = says_so or only and relative and is_public(name)
                self.add([], name, signature, offered and isinstance(node, (ast.Import, ast.ImportFrom)))


def flat(body):
    """The statements of a module, also those inside `if`, `try` and `with`."""
    for node in body:
        yield node
        if isinstance(node, (ast.If, ast.Try, ast.With, ast.AsyncWith)) or type(node).__name__ == "TryStar":
            yield from flat(node.body)
            for handler in getattr(node, "handlers", []):
                yield from flat(handler.body)
            yield from flat(getattr(node, "orelse", []))
            yield from flat(getattr(node, "finalbody", []))


def is_public(name: str) -> bool:
    return not name.startswith("_") or len(name) > 4 and name.startswith("__") and name.endswith("__")


def bound(target):
    if isinstance(target, ast.Name):
        yield target.id
    elif isinstance(target, (ast.Tuple, ast.List)):
        for element in target.elts:
            yield from bound(element)
    elif isinstance(target, ast.Starred):
        yield from bound(target.value)


def plain_all(tree):
    """The names in `__all__`, or nothing where it is made in other ways than by plain lists."""
    names = None
    for node in tree.body:
        value = None
        if isinstance(node, ast.Assign) and [getattr(t, "id", None) for t in node.targets] == ["__all__"]:
            value = strings(node.value)
            names = []
        elif isinstance(node, ast.AnnAssign) and getattr(node.target, "id", None) == "__all__":
            value = strings(node.value)
            names = []
        elif isinstance(node, ast.AugAssign) and getattr(node.target, "id", None) == "__all__":
            value = strings(node.value)
            names = names or []
        elif isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
            function = node.value.func
            if isinstance(function, ast.Attribute) and getattr(function.value, "id", None) == "__all__":
                return None
            continue
        else:
            continue
        if value is None:
            return None
        names.extend(value)
    return names


def strings(node):
    if not isinstance(node, (ast.List, ast.Tuple)):
        return None
    plain = all(isinstance(e, ast.Constant) and isinstance(e.value, str) for e in node.elts)
    return [e.value for e in node.elts] if plain else None


def main():
    sys.setrecursionlimit(10000)
    for line in sys.stdin:
        name = line.rstrip("\n")
        try:
            with open(name, "rb") as handle:
                file = File(handle.read())
            file.body(file.tree.body, [])
            file.imports()
            print(json.dumps({"file": name, "items": file.items}))
        except (SyntaxError, ValueError, UnicodeDecodeError, LookupError, tokenize.TokenError) as error:
            print(json.dumps({"file": name, "error": str(error)}))


if __name__ == "__main__":
    main()
