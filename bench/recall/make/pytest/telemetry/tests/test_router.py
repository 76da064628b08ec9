import pytest
from telemetry.router import Router, matches


@pytest.mark.parametrize("pattern,topic,expected", [
    ("fleet/+/battery", "fleet/17/battery", True),
    ("fleet/+/battery", "fleet/17/position", False),
    ("fleet/#", "fleet/17/log/boot", True),
    ("fleet/17", "fleet/17/log", False),
    ("fleet/17/log", "fleet/17", False),
    ("#", "anything", True),
    ("+", "a/b", False),
])
def test_matches(pattern, topic, expected):
    assert matches(pattern, topic) is expected


def test_dispatch_counts_dropped_messages():
    router = Router()
    router.on("fleet/+/battery", lambda t, m: None)
    router.dispatch("fleet/9/unknown", b"")
    assert router.dropped == 1


def test_handler_error_does_not_stop_the_others():
    seen = []

    def broken(topic, message):
        raise RuntimeError(f"handler lost its database while handling {topic}")

    router = Router()
    router.on("#", broken)
    router.on("#", lambda t, m: seen.append(t))
    router.dispatch("fleet/3/log", b"x")
    assert seen == ["fleet/3/log"]
