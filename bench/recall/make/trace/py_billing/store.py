import sqlite3


class StoreError(Exception):
    pass


def connect():
    db = sqlite3.connect(":memory:")
    db.execute("create table invoices (id integer primary key, customer text not null, total real check (total >= 0))")
    return db


def insert(db, invoice):
    try:
        db.execute("insert into invoices values (?, ?, ?)", (invoice["id"], invoice["customer"], invoice["total"]))
    except sqlite3.IntegrityError as err:
        raise StoreError(f"invoice {invoice['id']} was refused") from err
