#!/bin/bash
# mixed.sh web|rust|deploy|py|go|nightly|all: outputs of scripts that run several tools.
# Package hosts are replaced by packages.example (see clean in lib.sh).
. "$(dirname "$0")/lib.sh"
M=$MAKE/mixed
fresh() { rm -rf "$1" && mkdir -p "$1" && cd "$1" || exit 1; }

web() { fresh /srv/shop-web; python3 "$M/web.py" .; cp "$M/ci-web.sh" ci.sh; HOME=/home/dev keep mixed-ci-web bash ci.sh; clean mixed-ci-web; }
rust() { fresh /srv/relay; python3 "$M/rust.py" .; cp "$M/ci-rust.sh" ci.sh; CARGO_TERM_COLOR=never keep mixed-ci-rust bash ci.sh; clean mixed-ci-rust; }
deploy() { fresh /srv/deploy; cp "$M"/deploy.* .; keep mixed-deploy-shop bash deploy.sh; }
py() {
  fresh /srv/ledger; python3 "$M/py.py" .; cp "$M/ci-py.sh" ci.sh
  printf 'ruff==0.4.7\nmypy==1.10.0\npytest==8.2.1\npytest-cov==5.0.0\n' > requirements-dev.txt
  (unset PIP_FIND_LINKS; keep mixed-ci-python bash ci.sh); clean mixed-ci-python
}
go() { fresh /srv/fleet; python3 "$M/gosvc.py" .; cp "$M/ci-go.sh" ci.sh; GOCACHE=/srv/.gocache GOFLAGS=-mod=mod keep mixed-ci-go bash ci.sh; rm -rf /srv/.gocache; }
nightly() {
  fresh /srv/nightly; cp "$M"/nightly.* .; mkdir -p data /var/backup
  for n in $(seq -w 0 219); do echo "id;account;cents" > data/bank-$((10#$n % 7))-$n.csv; done
  keep mixed-nightly-ledger bash nightly.sh; rm -f /var/backup/ledger-nightly.tar
}
case ${1:-all} in all) for m in deploy nightly rust go py web; do $m; done;; *) "$1";; esac
