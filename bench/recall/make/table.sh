#!/bin/bash
# table.sh: process, socket and open-file tables of generated processes, each in namespaces of its own.
. "$(dirname "$0")/lib.sh"
PY=$(python3 -c 'import sys; print(sys.executable)')
one() {  # NAME PLAN COMMAND
  mkdir -p /srv/vault; chmod 777 /srv/vault; cp "$MAKE/table_procs.py" /srv/procs.py; echo "$3" > /srv/run.sh
  (cd /srv && unshare --pid --fork --mount-proc --net bash -c "ip link set lo up; exec $PY -s /srv/procs.py $2" </dev/null >/dev/null 2>&1)
  mv /srv/out.txt "$OUT/$1.txt"; mv /srv/out.rc "$OUT/$1.rc"
  sed -i -e "s#$HOME/\.pyenv/versions/[0-9.]*#/usr/local#g" "$OUT/$1.txt"
  rm -rf /srv/vault /srv/bin /srv/procs.py /srv/run.sh
}
umask 000
case ${1:-all} in
  ps|all) one table-ps-shop ps 'ps auxww';;&
  ss|all) one table-ss-shop ss 'ss -tanp';;&
  lsof|all) one table-lsof-vault lsof 'lsof -nP';;&
  netstat|all) one table-netstat-broker netstat 'netstat -tanpe';;&
esac
