#!/usr/bin/env python3
"""Measures what Weir's gateway costs: time of a call, and memory with eight servers.

  tools/mcp-servers/overhead.py FOLDER WEIR [--calls 1000]

FOLDER is where `tools/mcp-servers/lists` has installed the servers, and WEIR the program. The call is `echo` of
server-everything: directly, through Weir under the server's own name (`weir mcp --server everything`), and with
`ctx_call_read`; the three take turns, so that each meets the same moments of the machine. Memory is that of all eight
servers and their children after they have listed their tools, started directly and by one `weir mcp`.
"""

import argparse
import json
import os
import pathlib
import shutil
import statistics
import subprocess
import tempfile
import time

import servers

EIGHT = ["everything", "filesystem", "memory", "playwright", "postgres", "git", "fetch", "sqlite"]
WARM = 50


def of_process(pid, name):
    """Returns a figure of `smaps_rollup`, in MiB. A process that has ended meanwhile has none."""
    path = pathlib.Path(f"/proc/{pid}/smaps_rollup")
    lines = path.read_text().splitlines() if path.exists() else [f"{name} 0"]
    return next(int(line.split()[1]) for line in lines if line.startswith(name)) / 1024


def family(pid):
    """Returns a process and all that it has started."""
    children = pathlib.Path(f"/proc/{pid}/task").glob("*/children")
    pids = [int(child) for listed in children for child in listed.read_text().split()]
    return [pid, *(one for child in pids for one in family(child))]


def memory(name, pids):
    rss, pss = (sum(of_process(pid, figure) for pid in pids) for figure in ("Rss:", "Pss:"))
    print(json.dumps({"memory": name, "processes": len(pids), "rss_mib": round(rss, 1), "pss_mib": round(pss, 1)}))


def times(name, taken):
    ordered = sorted(taken)
    p50, p99 = statistics.median(ordered), ordered[int(len(ordered) * 0.99)]
    print(json.dumps({"call": name, "calls": len(ordered), "p50_ms": round(p50, 3), "p99_ms": round(p99, 3)}))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder")
    parser.add_argument("weir", type=os.path.abspath)
    parser.add_argument("--calls", type=int, default=1000)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="overhead-") as place:
        measure(options, place)


def measure(options, place):
    environment = {"HOME": place, "PATH": os.environ["PATH"]}
    commands = {}
    for name in EIGHT:
        server = servers.find(name)
        commands[name] = ([str(servers.installed(name, options.folder)), *server.arguments], server.environment)
        pairs = [word for key, value in server.environment.items() for word in ("--env", f"{key}={value}")]
        add = [options.weir, "servers", "add", name, *pairs, "--", *commands[name][0]]
        subprocess.run(add, cwd=place, env=environment, check=True, capture_output=True)

    def start(command, variables):
        session = servers.Session(command, place, {**environment, **variables})
        session.greet({})
        session.tools()
        return session

    measure_calls(start, commands, options)
    # Where no list is stored, a search starts the server.
    shutil.rmtree(pathlib.Path(place) / ".local/share/weir/gateway")
    measure_memory(start, commands, options)


def measure_memory(start, commands, options):
    direct = [start(*command) for command in commands.values()]
    memory("eight servers, direct", [pid for one in direct for pid in family(one.process.pid)])
    for session in direct:
        session.end()
    weir = start([options.weir, "mcp"], {})
    memory("weir mcp, no server started", family(weir.process.pid))
    for name in EIGHT:
        # It waits 20 s, which may be too short on a busy machine.
        while "not searched" in weir.call_tool("ctx_tools", {"query": "any", "server": name})["content"][0]["text"]:
            pass
    memory("weir mcp alone, eight started", [weir.process.pid])
    memory("weir mcp and its eight servers", family(weir.process.pid))
    weir.end()


def measure_calls(start, commands, options):
    direct = start(*commands["everything"])
    weir = start([options.weir, "mcp"], {})
    passed = start([options.weir, "mcp", "--server", "everything"], {})
    said = {"message": "hello"}
    ways = {
        "direct": lambda: direct.call_tool("echo", said),
        "under its own name": lambda: passed.call_tool("echo", said),
        "ctx_call_read": lambda: weir.call_tool(
            "ctx_call_read", {"server": "everything", "tool": "echo", "arguments": said}
        ),
    }
    taken = {name: [] for name in ways}
    for round_ in range(WARM + options.calls):
        for name, call in ways.items():
            begun = time.perf_counter()
            result = call()
            spent = (time.perf_counter() - begun) * 1000
            assert result["content"][0]["text"] == "Echo: hello", result
            if round_ >= WARM:
                taken[name].append(spent)
    for name, values in taken.items():
        times(name, values)
    for session in [direct, weir, passed]:
        session.end()


if __name__ == "__main__":
    main()
