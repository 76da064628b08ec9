import pytest
from orders.inventory import Inventory, OutOfStock

SKUS = [f"sku-{n:03}" for n in range(40)]


@pytest.fixture
def inventory():
    return Inventory({
        "leipzig": {"mug-blue": 12, "spoon": 40, "tea-assam": 0},
        "lyon": {"mug-blue": 3, "tea-assam": 25},
        "basel": {"spoon": 5, "kettle": 2},
    })


@pytest.mark.parametrize("sku", SKUS)
def test_unknown_sku_has_no_stock(inventory, sku):
    assert inventory.available(sku) == 0


@pytest.mark.parametrize("n", range(1, 16))
def test_reserve_lowers_available(inventory, n):
    inventory.reserve("o-1", "mug-blue", n)
    assert inventory.available("mug-blue") == 15 - n


def test_reserve_too_many(inventory):
    with pytest.raises(OutOfStock, match="kettle: wanted 3, 2 left"):
        inventory.reserve("o-1", "kettle", 3)


def test_reserve_twice_adds_up(inventory):
    inventory.reserve("o-1", "spoon", 10)
    inventory.reserve("o-1", "spoon", 5)
    assert inventory.available("spoon") == 30


def test_release_gives_everything_back(inventory):
    inventory.reserve("o-1", "spoon", 10)
    inventory.reserve("o-1", "mug-blue", 2)
    inventory.release("o-1")
    assert inventory.available("spoon") == 45


def test_warehouse_with_exactly_enough(inventory):
    assert inventory.warehouses_with("spoon", 5) == ["basel", "leipzig"]


def test_move_to_warehouse_without_the_sku(inventory):
    inventory.move("kettle", "basel", "lyon", 1)
    assert inventory.stock["lyon"]["kettle"] == 1


def test_move_more_than_there_is(inventory):
    with pytest.raises(OutOfStock):
        inventory.move("mug-blue", "lyon", "leipzig", 9)


def test_snapshot(inventory):
    inventory.move("mug-blue", "leipzig", "lyon", 4)
    assert inventory.snapshot() == {
        "basel": {"kettle": 2, "spoon": 5},
        "leipzig": {"mug-blue": 8, "spoon": 40},
        "lyon": {"mug-blue": 7, "tea-assam": 25},
    }
