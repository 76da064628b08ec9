"""Prints what a small edge router's syslog holds after two days."""
import datetime as dt
import random

r = random.Random(67)
t = dt.datetime(2026, 10, 3, 0, 0, 7)
host = "edge-gw"


def line(tag, text):
    print(f"{t.strftime('%b %e %H:%M:%S')} {host} {tag}: {text}")


boot = True
for n in range(7000):
    t += dt.timedelta(seconds=r.randint(1, 46))
    x = r.random()
    if x < 0.30:
        line("dhcpd[812]", f"DHCPACK on 10.20.{r.randint(0, 3)}.{r.randint(10, 250)} to 02:00:5e:{r.randint(0, 255):02x}:{r.randint(0, 255):02x}:{r.randint(0, 255):02x} via lan0")
    elif x < 0.5:
        line("dnsmasq[777]", f"query[A] {r.choice(['time', 'mail', 'updates', 'files', 'camera'])}.example.org from 10.20.0.{r.randint(2, 60)}")
    elif x < 0.62:
        line(f"CRON[{9000 + n}]", "(root) CMD (/usr/local/bin/collect-metrics)")
    elif x < 0.80:
        line("kernel", f"[{n * 23.7:12.6f}] wan0: rx {r.randint(1000, 90000)} packets, tx {r.randint(1000, 50000)} packets")
    elif x < 0.87:
        line("sshd[1201]", f"Failed password for invalid user {r.choices(['admin', 'test', 'oracle', 'guest'], [6, 3, 2, 1])[0]} from 203.0.113.{r.choices([9, 44, 71], [8, 1, 1])[0]} port {r.randint(30000, 60000)} ssh2")
    else:
        line("systemd[1]", f"Started session-{n}.scope - Session {n} of user metrics.")
    if n == 1800:
        line("kernel", f"[{n * 23.7:12.6f}] Out of memory: Killed process 2290 (collect-metrics) total-vm:812004kB, anon-rss:611020kB, UID:0")
        line("systemd[1]", "collector.service: Main process exited, code=killed, status=9/KILL")
        line("systemd[1]", "collector.service: Failed with result 'oom-kill'.")
    if n in (2500, 2502, 5100):
        line("kernel", f"[{n * 23.7:12.6f}] wan0: link is down")
        t += dt.timedelta(seconds=38)
        line("kernel", f"[{n * 23.7:12.6f}] wan0: link is up, 1000 Mbps, full duplex")
    if n == 3600:
        line("systemd[1]", "Reached target reboot.target - System Reboot.")
        t += dt.timedelta(seconds=71)
        line("kernel", "[    0.000000] Linux version 6.1.0-edge (build@example.org) #1 SMP")
        line("kernel", "[    2.114201] EXT4-fs (mmcblk0p2): recovery complete")
    if n == 4444:
        line("sshd[1201]", "Accepted publickey for deploy from 198.51.100.23 port 51022 ssh2")
    if n % 1700 == 1699:
        line("smartd[640]", f"Device: /dev/sda, {8 * (n // 1700 + 1)} Currently unreadable (pending) sectors")
