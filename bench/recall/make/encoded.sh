#!/bin/bash
# Makes outputs with binary or encoded data in them. usage: encoded.sh NAME > output
here=$(cd "$(dirname "$0")" && pwd)
d=/srv/encoded; rm -rf $d; mkdir -p $d; cd $d || exit 1
make() { python3 "$here/encoded.py" "$1" "$2"; }
case $1 in
  base64-chart)
    make png queue-mail.png
    echo "render: reading 168 samples of queue mail"; echo "render: warning: 5 samples missing on 2026-10-21, drawn as a gap"
    echo "render: wrote queue-mail.png, $(stat -c %s queue-mail.png) bytes, sha256 $(sha256sum queue-mail.png | cut -c1-16)"
    echo "-----BEGIN IMAGE-----"; base64 queue-mail.png; echo "-----END IMAGE-----"
    echo "render: highest load 912 mails at 2026-10-22T08:00Z"; echo "render: upload skipped, no target set" ;;
  base64-settings)
    make settings relay.conf
    echo "relayctl 4.0.2: export of relay eu-3"; echo "revision 118, last changed by the network group on 2026-09-30"
    echo "settings (base64):"; base64 -w 0 relay.conf; echo
    echo "size $(stat -c %s relay.conf) bytes, $(wc -l < relay.conf) lines"; echo "error: 2 routes point to a drained host: route.0417, route.0902"; echo "export incomplete: secrets were left out" ;;
  binary-sqlite) make sqlite readings.db; cat readings.db ;;
  binary-elf) make c brewctl.c; gcc -O1 -o brewctl brewctl.c; cat brewctl ;;
  hexdump-capture) make capture sensors.cap; xxd sensors.cap ;;
  hexdump-firmware) make firmware thermostat.bin; hexdump -C thermostat.bin ;;
esac
rm -rf $d
