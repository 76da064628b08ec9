import pytest
from billing.invoices import Ledger


@pytest.fixture
def ledger(tmp_path):
    return Ledger(tmp_path / "ledger.json")


class Gateway:
    def __init__(self, url):
        self.url = url

    def connect(self):
        raise ConnectionRefusedError(111, f"connect to {self.url} refused")


@pytest.fixture(scope="module")
def gateway():
    gateway = Gateway("payments.test:8443")
    gateway.connect()
    return gateway
