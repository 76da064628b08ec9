"""Prints what `journalctl --no-pager -o short-iso` of a storage box holds after three days."""
import datetime as dt
import random

r = random.Random(163)
t = dt.datetime(2026, 9, 14, 22, 0, 3)


def line(tag, text):
    print(f"{t.isoformat()}+0000 nas-2 {tag}: {text}")


print("-- Journal begins at Mon 2026-09-14 22:00:03 UTC. --")
for n in range(4600):
    t += dt.timedelta(seconds=r.randint(1, 110))
    x = r.random()
    if x < 0.35:
        line("smbd[1410]", f"client 10.9.0.{r.randint(20, 80)} opened share {r.choice(['projects', 'scans', 'media', 'homes'])}, {r.randint(1, 30)} files open")
    elif x < 0.55:
        line(f"backup.sh[{7000 + n}]", f"rsync host app-{r.randint(1, 9)}: {r.randint(10, 9000)} files, {r.randint(1, 900)} MB, ok")
    elif x < 0.75:
        line("zed[602]", f"eid={n} class=history_event pool=tank")
    elif x < 0.9:
        line("systemd[1]", r.choice(["Started snapshot.service - Hourly snapshot.", "snapshot.service: Deactivated successfully.", "Starting logrotate.service - Rotate log files..."]))
    elif x < 0.985:
        line("chronyd[511]", f"Selected source 10.9.0.1, offset {r.uniform(-3, 3):.3f} ms")
    elif x < 0.997:
        line(f"backup.sh[{7000 + n}]", f"rsync host app-{r.choice([4, 4, 4, 8])}: error: connection refused (code 10)")
    else:
        line("smbd[1410]", f"warning: oplock break timed out for share homes, client 10.9.0.{r.randint(20, 80)}")
    if n in (1490, 1505, 1533, 1540):
        line("kernel", "ata5.00: failed command: READ FPDMA QUEUED")
        line("kernel", f"blk_update_request: I/O error, dev sde, sector {3907029100 + n}")
    if n == 1541:
        line("zed[602]", "eid=1541 class=statechange pool=tank vdev=sde1 vdev_state=FAULTED")
        line("zed[602]", "pool tank is DEGRADED, resilver to spare sdh1 started")
    if n == 2610:
        line("zed[602]", "resilver of tank finished: 1.42T in 15:08:31 with 0 errors")
    if n == 3020:
        line("systemd-logind[498]", "System is powering down (power button pressed).")
        line("systemd-journald[311]", "Journal stopped")
        print("-- Boot 5be1c7a09d2e4f0f8a63b1d2c4e5f607 --")
        t += dt.timedelta(minutes=11)
        line("kernel", "Linux version 6.1.0-nas (build@example.org)")
        line("systemd[1]", "nfs-server.service: Failed with result 'exit-code'.")
    if n == 3700:
        line("snapshotd[877]", "cannot create snapshot tank/media@2026-09-17: out of space, quota 8T reached")
