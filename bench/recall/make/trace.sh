#!/bin/bash
# trace.sh python|java|node|rust|go|all: programs that crash, log exceptions or dump their threads.
. "$(dirname "$0")/lib.sh"
T=$MAKE/trace

python() {
  rm -rf /srv/billing /srv/ingest; cp -r "$T/py_billing" /srv/billing; cp -r "$T/py_ingest" /srv/ingest
  cd /srv/billing && keep trace-python-billing python3 -u billing.py
  cd /srv/ingest && keep trace-python-ingest python3 -u ingest.py
  clean trace-python-billing; clean trace-python-ingest
}
java() {
  rm -rf /srv/pool /srv/claims; mkdir -p /srv/pool /srv/claims
  javac -d /srv/pool "$T/java/PoolServer.java"; javac -d /srv/claims "$T/java/ClaimService.java"
  cd /srv/pool && keep trace-java-pool env java -cp . PoolServer
  cd /srv/claims && keep trace-java-claims env java -cp . ClaimService
}
node() {
  rm -rf /srv/orders /srv/help; mkdir -p /srv/orders /srv/help; cp "$T/node/orders.js" /srv/orders/; cp "$T/node/render.js" /srv/help/
  cd /srv/orders && keep trace-node-orders env node orders.js
  cd /srv/help && keep trace-node-help env node --stack-trace-limit=120 --trace-deprecation render.js
}
rust() {
  rm -rf /srv/planner /srv/mirror; mkdir -p /srv/planner/src /srv/mirror/src; cp "$T/rust/planner.rs" /srv/planner/src/main.rs; cp "$T/rust/mirror.rs" /srv/mirror/src/main.rs
  (cd /srv/planner && rustc --edition 2021 -g -o planner src/main.rs) && (cd /srv/mirror && rustc --edition 2021 -g -o mirror src/main.rs)
  cd /srv/planner && keep trace-rust-planner env RUST_BACKTRACE=full ./planner
  cd /srv/mirror && keep trace-rust-mirror env RUST_BACKTRACE=1 ./mirror
  clean trace-rust-planner; clean trace-rust-mirror
}
go() {
  rm -rf /srv/broker /srv/scheduler; cp -r "$T/go_broker" /srv/broker; cp -r "$T/go_sched" /srv/scheduler
  for d in broker scheduler; do (cd /srv/$d && env GOFLAGS=-mod=mod GO111MODULE=off GOCACHE=/srv/.gocache go build -o $d main.go); done
  cd /srv/broker && keep trace-go-broker env GOTRACEBACK=all ./broker
  cd /srv/scheduler && keep trace-go-scheduler env ./scheduler
  rm -rf /srv/.gocache
}
case ${1:-all} in all) python; java; node; rust; go;; *) "$1";; esac
