#!/usr/bin/env python3
"""Runs one real client with no network but loopback, and leaves nothing behind.

  run_client.py --run FOLDER --cwd PROJECT [--scenario S.json] [--var NAME=VALUE ...] [--env NAME=VALUE ...]
                [--proxy WEIR] [--forward PORT=SOCKET] [--timeout SECONDS] -- COMMAND...

It starts itself again in namespaces of its own: an empty network, a private mount table and private processes. So no
packet leaves, and whatever the client started ends with this script. With a scenario, the scripted model answers on
loopback at {PORT}, which is replaced in the environment and in the command. Every host name asked for is recorded and
answered with "no such name".

With --proxy, the client reaches the model through `weir proxy`, and a recorder in front of it logs what the client sent.

With --forward, connections to that port of loopback go to a Unix socket, behind which the test has a server; and what
the client starts for that server, such as a sync after the session, is waited for.

What the client reads from its standard input is FOLDER/stdin, where there is one.

Left in FOLDER: home/ (the client's HOME, kept from run to run), stdout, stderr, requests.jsonl with what the model was
asked, sent.jsonl with what the client sent to the proxy, proxy.stdout with what the proxy says at its end, and
summary.json:

  { "status": 0 or "timeout", "failures": [what the scenario found wrong], "hosts": [names asked for],
    "left": [processes still running after the client], "seconds": 1.5 }
"""

import argparse
import json
import os
import signal
import socket
import subprocess
import sys
import threading
import time

import recorder
import scripted_model

INSIDE = "WEIR_E2E_INSIDE"
PATH = "/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin"
# What the client started may be a moment behind the client.
GRACE_SECONDS = 3.0
# What it started for a server behind --forward may take as long as a request to it.
FORWARD_SECONDS = 60.0
# How long the proxy may take to end.
PROXY_SECONDS = 20.0
# Asked for by this script, to see that such questions are seen.
WATCH_TEST = "watch.invalid"


def main():
    options = parse()
    if INSIDE not in os.environ:
        enter_namespaces()
    subprocess.run(["ip", "link", "set", "lo", "up"], check=True)
    run = os.path.abspath(options.run)
    home = os.path.join(run, "home")
    for folder in (home, os.path.join(run, "tmp")):
        os.makedirs(folder, exist_ok=True)
    hosts = watch_names(run)
    if options.forward:
        port, _, path = options.forward.partition("=")
        forward(int(port), path)

    scenario, port = None, 0
    if options.scenario:
        log = os.path.join(run, "requests.jsonl")
        scenario = scripted_model.Scenario(options.scenario, pairs(options.var), log)
        port = scripted_model.serve(scenario)

    environment = {"PATH": PATH, "HOME": home, "TMPDIR": os.path.join(run, "tmp"), "LANG": "C.UTF-8", "TERM": "dumb"}
    proxy = None
    if options.proxy:
        proxy, address = start_proxy(options, environment, run, port)
        port = recorder.serve(address, os.path.join(run, "sent.jsonl"))
    environment.update({name: value.replace("{PORT}", str(port)) for name, value in pairs(options.env).items()})
    command = [word.replace("{PORT}", str(port)) for word in options.command]
    begun = time.monotonic()
    status = run_command(command, options, environment, run)
    if proxy:
        proxy.send_signal(signal.SIGINT)
        proxy.wait(PROXY_SECONDS)
    summary = {
        "status": status,
        "failures": scenario.finish() if scenario else [],
        "hosts": sorted(hosts - {WATCH_TEST}),
        "left": still_running(FORWARD_SECONDS if options.forward else GRACE_SECONDS),
        "seconds": round(time.monotonic() - begun, 2),
    }
    with open(os.path.join(run, "summary.json"), "w", encoding="utf-8") as file:
        json.dump(summary, file, indent=1)


def parse():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--run", required=True)
    parser.add_argument("--cwd", required=True)
    parser.add_argument("--scenario")
    parser.add_argument("--var", action="append", default=[])
    parser.add_argument("--env", action="append", default=[])
    parser.add_argument("--proxy")
    parser.add_argument("--forward")
    parser.add_argument("--timeout", type=float, default=150)
    parser.add_argument("command", nargs="+")
    return parser.parse_args()


def pairs(texts):
    return dict(text.split("=", 1) for text in texts)


def enter_namespaces():
    """Starts this script again, with nothing of the caller's environment."""
    namespaces = ["--net", "--mount", "--pid", "--fork", "--kill-child", "--mount-proc"]
    if os.geteuid() != 0:
        namespaces += ["--user", "--map-root-user"]
    again = [sys.executable, os.path.abspath(__file__), *sys.argv[1:]]
    # Bytecode would be written into the checkout.
    environment = {"PATH": PATH, "LANG": "C.UTF-8", "PYTHONDONTWRITEBYTECODE": "1", INSIDE: "1"}
    os.execvpe("unshare", ["unshare", *namespaces, *again], environment)


def start_proxy(options, environment, run, port):
    """Starts the proxy in front of the model; the process, and the address that it listens on."""
    command = [options.proxy, "proxy", "--upstream", f"http://127.0.0.1:{port}", "--bind", "127.0.0.1:0"]
    with open(os.path.join(run, "proxy.stdout"), "wb") as out:
        proxy = subprocess.Popen(
            command, cwd=options.cwd, env=environment, stdin=subprocess.DEVNULL, stdout=out, stderr=subprocess.PIPE
        )
    first = proxy.stderr.readline().decode()
    _, found, address = first.strip().partition("listening on http://")
    if not found:
        sys.exit(f"error: the proxy does not listen: {first}{proxy.stderr.read().decode()}")
    # What it says later must not fill the pipe.
    threading.Thread(target=proxy.stderr.read, daemon=True).start()
    return proxy, address


def run_command(command, options, environment, run):
    """Runs the client to its end; its exit status, or `timeout`."""
    asked = os.path.join(run, "stdin")
    asked = asked if os.path.exists(asked) else os.devnull
    with open(asked, "rb") as given, open(os.path.join(run, "stdout"), "wb") as out:
        with open(os.path.join(run, "stderr"), "wb") as err:
            client = subprocess.Popen(command, cwd=options.cwd, env=environment, stdin=given, stdout=out, stderr=err)
        try:
            return client.wait(options.timeout)
        except subprocess.TimeoutExpired:
            client.kill()
            client.wait()
            return "timeout"


def forward(port, path):
    """Passes connections to a port of loopback on to a Unix socket, which is reached from any network namespace."""
    listener = socket.create_server(("127.0.0.1", port))

    def accept():
        while True:
            near, _ = listener.accept()
            far = socket.socket(socket.AF_UNIX)
            try:
                far.connect(path)
            except OSError:
                near.close()
                continue
            for source, target in ((near, far), (far, near)):
                threading.Thread(target=pass_on, args=(source, target), daemon=True).start()

    threading.Thread(target=accept, daemon=True).start()


def pass_on(source, target):
    try:
        while data := source.recv(65536):
            target.sendall(data)
        target.shutdown(socket.SHUT_WR)
    except OSError:
        # One side is gone, so the other has nothing to wait for.
        source.close()
        target.close()


def still_running(grace):
    """What runs in this process namespace besides this script, after a moment of grace."""
    deadline = time.monotonic() + grace
    while (left := others()) and time.monotonic() < deadline:
        time.sleep(0.05)
    return left


def others():
    found = []
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{pid}/stat", encoding="utf-8", errors="replace") as stat:
                state = stat.read().rpartition(")")[2].split()[0]
            with open(f"/proc/{pid}/cmdline", encoding="utf-8", errors="replace") as cmdline:
                command = cmdline.read().replace("\0", " ").strip()
        except OSError:
            continue
        if int(pid) != os.getpid() and state not in "ZX":
            found.append(f"{pid} {command}"[:200])
    return found


def watch_names(run):
    """Makes this script the resolver of the namespace; the names asked for come into the set it returns."""
    resolver = os.path.join(run, "resolv.conf")
    with open(resolver, "w", encoding="utf-8") as file:
        file.write("nameserver 127.0.0.1\noptions timeout:1 attempts:1\n")
    subprocess.run(["mount", "--bind", resolver, "/etc/resolv.conf"], check=True)
    seen = set()
    server = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    server.bind(("127.0.0.1", 53))

    def answer():
        while True:
            query, asker = server.recvfrom(2048)
            labels, at = [], 12
            while at < len(query) and query[at]:
                labels.append(query[at + 1 : at + 1 + query[at]].decode("ascii", "replace"))
                at += query[at] + 1
            seen.add(".".join(labels))
            header = query[:2] + b"\x81\x83" + query[4:6] + bytes(6)
            server.sendto(header + query[12 : at + 5], asker)

    threading.Thread(target=answer, daemon=True).start()
    # That no name is seen means something only if the watch works.
    try:
        socket.getaddrinfo(WATCH_TEST, 80)
    except socket.gaierror:
        pass
    if WATCH_TEST not in seen:
        sys.exit("error: the watch over host names does not see them")
    return seen


if __name__ == "__main__":
    main()
