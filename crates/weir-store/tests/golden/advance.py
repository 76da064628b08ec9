"""Makes a golden store of a version in between: copies a golden store and runs released migrations of the log over it, as
Weir did when it opened such a store. Adds a little of what each of these migrations brought, so that there is something
to lose. Existing golden stores are not changed.

    python3 advance.py 0007 0011

The index stays as it is in the older store: it is derived, and every newer version fills it again.
"""

import pathlib
import shutil
import sqlite3
import sys

HERE = pathlib.Path(__file__).parent
MIGRATIONS = HERE.parent.parent / "src" / "log" / "migrations"
# When the migrations ran, as the ledger writes it. Fixed, so that the same store is made again.
APPLIED_AT = "2026-11-16 12:00:00"

# What a version could have written once a migration had run.
ADDED = {
    "0009_imports": [
        """INSERT INTO imports (client, key, subagent, steps, message, at)
           VALUES ('test', 's1', '', 12, 'message-12', 1700000300000)"""
    ],
    "0010_meter": [
        """INSERT INTO meter (day, client, session, tool, what, times, given, shown)
           VALUES (19675, 'test', 's1', 'shell', 'held', 3, 9000, 400)"""
    ],
    "0011_confirmed": [
        """UPDATE notes SET confirmed_at = 1700000310000
           WHERE entry_id = (SELECT entry_id FROM notes JOIN entries ON entries.id = notes.entry_id
                             WHERE entries.origin = 'model' AND entries.level = 'work')""",
        """INSERT INTO projects (key, root, folder, used_at)
           VALUES ('git:/src/p/.git', '/src/p', 'p-0123abcd', 1700000320000)""",
    ],
}


def main(source, target):
    from_folder, to_folder = HERE / source, HERE / target
    if to_folder.exists():
        sys.exit(f"{to_folder} exists, and a golden store is never written again")
    shutil.copytree(from_folder, to_folder)
    log = sqlite3.connect(to_folder / "log.db", isolation_level=None)
    for position, path in enumerate(sorted(MIGRATIONS.glob("*.sql"))):
        name, sql = path.stem, path.read_bytes()
        if name[:4] > target:
            break
        checksum = blake3(sql).hex()
        known = log.execute("SELECT name, checksum FROM migrations WHERE position = ?", [position]).fetchone()
        if known:
            assert known == (name, checksum), f"{name} is not what the store has run"
            continue
        log.executescript(f"BEGIN IMMEDIATE; {sql.decode()}")
        ledger = "INSERT INTO migrations (position, name, checksum, applied_at) VALUES (?, ?, ?, ?)"
        log.execute(ledger, [position, name, checksum, APPLIED_AT])
        log.execute(f"PRAGMA user_version = {position + 1}")
        log.execute("COMMIT")
        for statement in ADDED.get(name, []):
            assert log.execute(statement).rowcount == 1, statement
    assert log.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
    log.close()


# BLAKE3, as its specification has it, for texts of any length: https://github.com/BLAKE3-team/BLAKE3-specs
IV = [0x6A09E667, 0xBB67AE85, 0x3C6EF372, 0xA54FF53A, 0x510E527F, 0x9B05688C, 0x1F83D9AB, 0x5BE0CD19]
PERMUTATION = [2, 6, 3, 10, 7, 0, 4, 13, 1, 11, 12, 5, 9, 14, 15, 8]
CHUNK_START, CHUNK_END, PARENT, ROOT = 1, 2, 4, 8
MASK = 0xFFFFFFFF


def compress(chaining, words, counter, length, flags):
    state = chaining + IV[:4] + [counter & MASK, counter >> 32, length, flags]

    def rotate(value, bits):
        return (value >> bits | value << (32 - bits)) & MASK

    def mix(a, b, c, d, x, y):
        state[a] = (state[a] + state[b] + x) & MASK
        state[d] = rotate(state[d] ^ state[a], 16)
        state[c] = (state[c] + state[d]) & MASK
        state[b] = rotate(state[b] ^ state[c], 12)
        state[a] = (state[a] + state[b] + y) & MASK
        state[d] = rotate(state[d] ^ state[a], 8)
        state[c] = (state[c] + state[d]) & MASK
        state[b] = rotate(state[b] ^ state[c], 7)

    for _ in range(7):
        for column in range(4):
            mix(column, column + 4, column + 8, column + 12, words[2 * column], words[2 * column + 1])
        for diagonal in range(4):
            a, b, c, d = diagonal, 4 + (diagonal + 1) % 4, 8 + (diagonal + 2) % 4, 12 + (diagonal + 3) % 4
            mix(a, b, c, d, words[8 + 2 * diagonal], words[9 + 2 * diagonal])
        words = [words[place] for place in PERMUTATION]
    return [state[place] ^ state[place + 8] for place in range(8)]


def chunk(data, counter, root):
    chaining = IV
    blocks = [data[at : at + 64] for at in range(0, len(data), 64)] or [b""]
    for number, block in enumerate(blocks):
        flags = CHUNK_START if number == 0 else 0
        if number == len(blocks) - 1:
            flags |= CHUNK_END | root
        padded = block.ljust(64, b"\0")
        words = [int.from_bytes(padded[at : at + 4], "little") for at in range(0, 64, 4)]
        chaining = compress(chaining, words, counter, len(block), flags)
    return chaining


def tree(data, counter, root):
    if len(data) <= 1024:
        return chunk(data, counter, root)
    # The left half is the largest power of two of whole chunks that leaves something for the right.
    left = 1024
    while left * 2 < len(data):
        left *= 2
    words = tree(data[:left], counter, 0) + tree(data[left:], counter + left // 1024, 0)
    return compress(IV, words, 0, 64, PARENT | root)


def blake3(data):
    return b"".join(word.to_bytes(4, "little") for word in tree(data, 0, ROOT))


if __name__ == "__main__":
    main(*sys.argv[1:])
