import pytest
from telemetry.window import Window, percentile


@pytest.fixture
def window():
    w = Window(5)
    for value in [10, 11, 9, 10, 12, 95]:
        w.push(value)
    return w


def test_keeps_only_its_size(window):
    assert len(window.values) == 5


def test_mean(window):
    assert window.mean == pytest.approx(27.4)


def test_variance_of_one_value():
    w = Window(3)
    w.push(4)
    assert w.variance == 0


def test_outlier_is_found(window):
    assert window.outliers(factor=2) == [95]


@pytest.mark.parametrize("p,expected", [(0, 1), (50, 5), (90, 9), (99, 10), (100, 10)])
def test_percentile(p, expected):
    assert percentile(range(1, 11), p) == expected


@pytest.mark.parametrize("n", range(2, 80))
def test_percentile_of_constant(n):
    assert percentile([7] * n, 95) == 7
