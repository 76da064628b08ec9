#!/bin/bash
# Makes logs of small applications (sources in applog/). usage: applog.sh NAME > output
here=$(cd "$(dirname "$0")" && pwd)
run() { # copy the source to a neutral folder, so that stacks name that folder
  dir=$1 file=$2; shift 2
  mkdir -p "$dir"; cp "$here/applog/$file" "$dir/"; (cd "$dir" && "$@" 2>&1); rm -rf "$dir"
}
case $1 in
  log-python-billing) run /srv/billing billing.py python3 /srv/billing/billing.py ;;
  log-syslog-edge) run /srv/edge syslog.py python3 /srv/edge/syslog.py ;;
  log-journal-nas) run /srv/nas journal.py python3 /srv/nas/journal.py ;;
  log-java-settlement) run /srv/settle Settlement.java java Settlement.java ;;
  log-node-gateway) run /srv/gateway gateway.mjs node /srv/gateway/gateway.mjs ;;
esac
