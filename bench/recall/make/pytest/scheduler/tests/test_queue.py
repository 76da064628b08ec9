import pytest
from scheduler.queue import Cycle, Queue, backoff, order

PIPELINE = {"fetch": [], "unpack": ["fetch"], "lint": ["unpack"], "build": ["unpack"], "test": ["build"],
            "package": ["test", "lint"], "upload": ["package"], "notify": ["upload"]}


@pytest.fixture
def full():
    queue = Queue()
    for name, priority in [("report", 5), ("mail", 5), ("backup", 1), ("cleanup", 9)]:
        queue.push(name, priority)
    return queue


@pytest.fixture
def worker_pool(request):
    pool = {"workers": [f"worker-{n}" for n in range(8)], "limit": 16, "region": "eu-central"}
    assert pool["limit"] == len(pool["workers"]), "every worker needs exactly one slot"
    return pool


@pytest.mark.parametrize("attempt", range(0, 20))
def test_backoff_is_capped(attempt):
    assert backoff(attempt) <= 300


@pytest.mark.parametrize("n", range(1, 301))
def test_count_after_pushes(n):
    queue = Queue()
    for k in range(n):
        queue.push(f"job-{k}", k % 10)
    assert queue.count == n


def test_same_priority_keeps_the_order_of_arrival(full):
    assert [full.pop() for _ in range(4)] == ["backup", "report", "mail", "cleanup"]


def test_payloads_need_not_be_comparable():
    queue = Queue()
    queue.push("mail", 5, {"to": "ops@example.org"})
    queue.push("mail", 5, {"to": "api@example.org"})
    assert queue.pop() == "mail"


def test_count_goes_down(full):
    full.pop()
    assert full.count == 3


def test_pipeline_order():
    assert order(PIPELINE) == ["fetch", "unpack", "build", "test", "lint", "package", "upload", "notify"]


def test_cycle_names_only_the_cycle():
    jobs = dict(PIPELINE, fetch=["notify"], audit=["fetch"])
    with pytest.raises(Cycle) as caught:
        order(jobs)
    assert "audit" not in str(caught.value)


@pytest.mark.parametrize("size", [1, 4, 8])
def test_pool_takes_jobs(worker_pool, size):
    assert worker_pool["limit"] >= size


@pytest.mark.skip(reason="needs a broker on port 5672")
def test_remote_queue():
    pass
