#!/usr/bin/env bash
# Makes the outputs of cargo test, cargo nextest, cargo check and cargo clippy.
#   rust.sh test-ledger | test-harbor | nextest-atlas | nextest-grove | junit-nextest-grove
#         | check-depot | check-bakery | clippy-quarry | clippy-mill   > OUTPUT
# The workspaces are written by rust_gen.py with fixed seeds. They have no
# dependencies, so nothing is downloaded.
. "$(dirname "$0")/folder.sh"
name=$1
project=${name##*-}
generate python3 rust_gen.py "$project"
export CARGO_TARGET_DIR=$dir/target CARGO_TERM_COLOR=never CARGO_NET_OFFLINE=true RUST_BACKTRACE=0
export CARGO_PROFILE_DEV_DEBUG=0 CARGO_PROFILE_TEST_DEBUG=0 CARGO_INCREMENTAL=0
case $name in
  test-ledger)         cargo test --workspace --no-fail-fast ;;
  test-harbor)         cargo test --no-fail-fast -- --test-threads=1 --show-output ;;
  nextest-atlas)       cargo nextest run --workspace --no-fail-fast ;;
  nextest-grove)       cargo nextest run --workspace --no-fail-fast --retries 1 --failure-output immediate-final ;;
  junit-nextest-grove) cargo nextest run --workspace --no-fail-fast --profile ci >/dev/null 2>&1; rc=$?
                       cat target/nextest/ci/junit.xml; (exit $rc) ;;
  check-*)             cargo check --workspace --keep-going ;;
  clippy-quarry)       cargo clippy --workspace --keep-going ;;
  clippy-mill)         cargo clippy --workspace -- -W clippy::pedantic ;;
esac 2>&1
leave $?
