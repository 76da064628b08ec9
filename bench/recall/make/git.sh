#!/bin/bash
# git.sh shop|ledger|atlas|clinic|all: log, diff, status and blame outputs of generated repositories.
. "$(dirname "$0")/lib.sh"
export GIT_CONFIG_GLOBAL=/dev/null GIT_CONFIG_SYSTEM=/dev/null GIT_PAGER=cat

shop() {
  rm -rf /home/dev/shop; python3 "$MAKE/gitrepo.py" shop /home/dev/shop 420; cd /home/dev/shop || exit 1
  keep git-log-shop git log
  keep git-log-stat-shop git log --stat
  keep git-diff-shop git diff v1.5.0 v1.7.0
  keep git-diff-show-shop git show "$(git log --format=%h --grep='round all timeouts')"
  keep git-blame-shop git blame backend/orders/service.py
  # A large tree in the middle of a code change, partly staged.
  rm -rf /home/dev/shop-status; python3 "$MAKE/codebase.py" shop /home/dev/shop-status 60; cd /home/dev/shop-status || exit 1
  git init -q -b main; git add -A
  git -c user.name='api team' -c user.email=api@example.org commit -q -m 'Import' --date '2025-03-01T10:00:00Z'
  git checkout -q -b feature/async-store
  grep -rl 'timeout=' backend | sort | xargs sed -i 's/timeout=/deadline=/'
  git mv backend/pricing backend/quotes
  git add backend/orders backend/payments config
  grep -rl 'logger.info' web/src | sort | xargs sed -i 's/logger.info/logger.debug/'
  rm -f web/src/reviews/jobs*.ts docs/admin.md
  mkdir -p backend/store web/src/store tools
  for n in pool session retry deadline metrics; do echo "class ${n^}: pass" > backend/store/$n.py; done
  for n in 1 2 3 4 5 6 7 8 9; do echo "-- step $n" > tools/migrate_00$n.sql; done
  echo '{}' > web/src/store/index.json; echo 'dump' > heap-20250301.hprof
  echo '# later' >> backend/orders/service.py
  keep git-status-shop git status --untracked-files=all
}

ledger() {
  rm -rf /home/dev/ledger; python3 "$MAKE/gitrepo.py" ledger /home/dev/ledger 760; cd /home/dev/ledger || exit 1
  keep git-log-ledger git log --oneline --graph --decorate
  keep git-diff-ledger git log -p --date=iso -n 120
  keep git-diff-release-ledger git diff --stat --patch v1.2.0 v1.3.0 -- internal config
  keep git-blame-ledger git blame -e --date=short internal/journal/service.go
}

atlas() {  # a merge with conflicts over a large tree, short format
  rm -rf /home/dev/atlas; mkdir -p /home/dev; python3 "$MAKE/codebase.py" atlas /home/dev/atlas 90; cd /home/dev/atlas || exit 1
  git init -q -b main; git add -A
  c() { git -c user.name='data team' -c user.email=data@example.org commit -q -m "$1" --date '2025-06-02T09:00:00Z'; }
  c Import
  git checkout -q -b wide-ids
  grep -rl 'id: u64' crates | sort | xargs sed -i 's/id: u64/id: u128/'
  git mv crates/atlas-elevation crates/atlas-terrain; git rm -q docs/styles.md; git add -A; c 'Wide ids'
  git checkout -q main
  for f in crates/atlas-routing/src/service.rs crates/atlas-cache/src/handlers.rs crates/atlas-tiles/src/events.rs; do sed -i 's/id: u64/id: TileId/' $f; done
  echo '- new style notes' >> docs/styles.md
  git add -A; c 'Typed ids in three files'
  git -c user.name='data team' -c user.email=data@example.org merge -q wide-ids >/dev/null 2>&1
  grep -rl 'limit=' backend/ingest | sort | xargs sed -i 's/limit=/page=/'
  rm -f backend/render/jobs*.py
  for z in 4 5 6 7 8 9 10 11; do mkdir -p samples/z$z; for x in 0 1 2 3 4 5; do echo t > samples/z$z/tile_$x.bin; done; done
  keep git-status-atlas git status --short --branch --untracked-files=all
}

clinic() {
  rm -rf /home/dev/clinic; python3 "$MAKE/gitrepo.py" clinic /home/dev/clinic 900; cd /home/dev/clinic || exit 1
  keep git-log-clinic git log --date=iso --numstat
}

case ${1:-all} in all) shop; ledger; atlas; clinic;; *) "$1";; esac
