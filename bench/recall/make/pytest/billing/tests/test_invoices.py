import datetime as dt
import sys
import time
import pytest
from billing.invoices import Ledger, due, utc_stamp

DAY = dt.date(2026, 2, 3)


@pytest.mark.parametrize("n", range(1, 41))
def test_numbers_have_no_gaps(ledger, n):
    for k in range(n):
        number = ledger.add("acme", 100 + k, DAY)
    assert number == f"2026-{n:05}"


def test_numbers_restart_every_year(ledger):
    ledger.add("acme", 100, dt.date(2025, 12, 31))
    assert ledger.add("acme", 100, dt.date(2026, 1, 1)) == "2026-00001"


def test_reload(ledger):
    ledger.add("acme", 4200, DAY)
    assert Ledger(ledger.path).open_amount("acme") == 4200


def test_credit_note_lowers_open_amount(ledger):
    ledger.add("acme", 4200, DAY)
    ledger.add("acme", -1200, DAY)
    assert ledger.open_amount("acme") == 3000


def test_archive_of_a_large_year(ledger):
    ledger.rows = [{"number": str(n), "customer": "acme", "cents": n, "day": "2025-06-01"} for n in range(1000)]
    time.sleep(2.1)
    assert len(ledger.of_year(2025)) == 1000


@pytest.mark.parametrize("terms,expected", [("net14", dt.date(2026, 2, 17)), ("net30", dt.date(2026, 3, 5)),
                                            ("net60", dt.date(2026, 4, 4)), ("immediate", DAY)])
def test_due(terms, expected):
    assert due(DAY, terms) == expected


def test_stamp():
    assert utc_stamp() == "2026-01-01T00:00:00"


@pytest.mark.skipif(sys.platform != "win32", reason="reads the Windows registry")
def test_printer_settings():
    pass


@pytest.mark.xfail(reason="PDF export rounds per line")
def test_pdf_total_matches():
    assert round(2.675, 2) == 2.68


@pytest.mark.xfail(reason="fixed in the ledger rewrite")
def test_of_year_empty(ledger):
    assert ledger.of_year(2020) == []
