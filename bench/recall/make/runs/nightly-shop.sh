#!/bin/bash
# A maintenance script as cron starts it at night: backup, checks of data, thumbnails, certificates, clean-up.
cd "$(dirname "$0")" || exit 1
started=$SECONDS
errors=0
say() { printf '[%s] %s\n' "$1" "$2"; }
say backup "copying media to standby"
rsync -a --itemize-changes --stats media/ standby/ ; rsync -a media/ /nowhere/standby/ || { say backup "second copy failed with $?"; errors=$((errors+1)); }
say database "checking shop.db"
sqlite3 shop.db 'pragma integrity_check; pragma foreign_key_check;' || errors=$((errors+1))
sqlite3 -header -column shop.db 'select state, count(*) as orders, sum(cents) as cents from orders group by state;'
sqlite3 shop.db 'vacuum; select count(*) from visits where at < 20261001;' || { say database "query failed"; errors=$((errors+1)); }
say thumbnails "making what is missing"
python3 thumbs.py media || { say thumbnails "stopped with $?"; errors=$((errors+1)); }
say archive "packing logs"
tar -cvzf logs.tgz logs | tail -n 400
say certificates "looking at expiry"
for f in certs/*.pem; do openssl x509 -in "$f" -noout -checkend 2592000 >/dev/null && say certificates "$f good" || { say certificates "$f ends within 30 days: $(openssl x509 -in "$f" -noout -enddate)"; errors=$((errors+1)); }; done
say cleanup "removing files of carts older than 30 days"
find carts -type f -mtime +30 -print -delete
say cleanup "$(find carts -type f | wc -l) carts are left"
say done "night run ended, $errors problems"
exit $((errors > 0 ? 1 : 0))
