#!/bin/bash
# cargo.sh gateway|indexer|all: verbose builds with many dependencies.
# Index names and the toolchain folder are replaced (see clean in lib.sh).
. "$(dirname "$0")/lib.sh"
RUSTUP_HOME=${RUSTUP_HOME:-$HOME/.rustup}
export RUSTUP_HOME CARGO_HOME=/home/dev/.cargo CARGO_TERM_COLOR=never
mkdir -p "$CARGO_HOME"

gateway() {  # verbose, ends well, with warnings of its own
  rm -rf /srv/gateway && mkdir -p /srv/gateway && cp -r "$MAKE"/cargo/gateway/. /srv/gateway/ && cd /srv/gateway || exit 1
  cargo fetch >/dev/null 2>&1
  keep cargo-build-gateway nice -n 10 cargo build -v
  clean cargo-build-gateway
}

indexer() {  # ends with compile errors in the last crate
  rm -rf /srv/indexer && mkdir -p /srv/indexer && cp -r "$MAKE"/cargo/indexer/. /srv/indexer/ && cd /srv/indexer || exit 1
  keep cargo-build-indexer nice -n 10 cargo build --workspace --all-targets -v
  clean cargo-build-indexer
}

case ${1:-all} in all) gateway; indexer;; *) "$1";; esac
