#!/bin/bash
# files.sh shop|atlas|search|all: listings (ls, find, tree) and searches (grep, rg).
. "$(dirname "$0")/lib.sh"


shop() {
  rm -rf /srv/shop; python3 "$MAKE/files.py" shop /srv/shop; cd /srv/shop || exit 1
  keep ls-shop ls -laR
  keep tree-shop tree -a -s --du
  keep find-shop find . -type f -printf '%s %TY-%Tm-%Td %m %p\n'
}

atlas() {
  rm -rf /srv/atlas; python3 "$MAKE/files.py" atlas /srv/atlas; cd /srv/atlas || exit 1
  keep ls-atlas ls -lhRt --time-style=long-iso tiles/9 data crates cache
  keep tree-atlas tree -F --dirsfirst
  keep find-atlas find /srv/atlas -ls
  keep find-recent-atlas find . -name '*.pbf'
}

search() {
  rm -rf /srv/shop /srv/clinic; python3 "$MAKE/codebase.py" shop /srv/shop 90; python3 "$MAKE/codebase.py" clinic /srv/clinic 120
  cd /srv/shop || exit 1
  keep grep-shop grep -rn 'timeout' .
  keep rg-todo-shop rg -n 'TODO|FIXME|HACK' --sort path
  cd /srv/clinic || exit 1
  keep grep-clinic grep -rnE --include='*.ts' 'ValidationError|throw new' web
  keep rg-clinic rg --heading --line-number --sort path -C 2 'dosage.*limit|cache\.set'
}

case ${1:-all} in all) shop; atlas; search;; *) "$1";; esac
