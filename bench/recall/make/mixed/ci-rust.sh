#!/bin/bash
echo "### build"
cargo build --workspace 2>&1
echo "### test"
cargo test --workspace --no-fail-fast 2>&1; tests=$?
echo "### smoke run"
RUST_BACKTRACE=1 ./target/debug/relay 2>&1; smoke=$?
echo "### result: tests exit $tests, smoke run exit $smoke"
exit $((tests || smoke))
