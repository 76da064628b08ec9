import sqlite3
import pytest


@pytest.fixture
def store():
    db = sqlite3.connect(":memory:")
    db.execute("create table samples (vehicle integer, at integer, volt real)")
    db.executemany("insert into sample values (?, ?, ?)", [(17, n, 12.0 + n / 100) for n in range(50)])
    return db


@pytest.mark.parametrize("vehicle", [17, 18, 19])
def test_samples_of_vehicle(store, vehicle):
    rows = store.execute("select count(*) from samples where vehicle = ?", (vehicle,)).fetchone()
    assert rows == ((50 if vehicle == 17 else 0),)


def test_lowest_voltage(store):
    assert store.execute("select min(volt) from samples").fetchone() == (12.0,)


def test_store_file_is_closed():
    db = sqlite3.connect(":memory:")
    db.close()
    with pytest.raises(sqlite3.ProgrammingError):
        db.execute("select 1")
