"""The team's server: started, killed at any moment, and started again at the same address with the same data."""

import pathlib
import signal
import socket
import subprocess
import threading
import time
import urllib.error
import urllib.request

import people


class TeamServer:
    """`weir-server serve --data` on loopback, with SQLite."""

    def __init__(self, root: pathlib.Path, program: pathlib.Path):
        self.home = root / "server"
        self.data = self.home / "data"
        self.home.mkdir()
        self.program = self.home / "weir-server"
        people.install(program, self.program)
        self.port = free_port()
        self.process: subprocess.Popen | None = None
        self.lock = threading.Lock()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def _environment(self) -> dict:
        return {"HOME": str(self.home), "PATH": "/usr/bin:/bin"}

    def admin(self, *arguments: str) -> str:
        """Runs a command of the operator. Returns what it prints."""
        command = [str(self.program), *arguments, "--data", str(self.data)]
        ended = subprocess.run(command, env=self._environment(), capture_output=True, check=True, umask=0o077)
        return ended.stdout.decode()

    def start(self, limit: float = 60) -> None:
        log = (self.home / "log").open("ab")
        command = [str(self.program), "serve", "--data", str(self.data), "--bind", f"127.0.0.1:{self.port}"]
        self.process = subprocess.Popen(command, env=self._environment(), stdout=log, stderr=log, stdin=subprocess.DEVNULL)
        until = time.monotonic() + limit
        while not self.answers():
            if time.monotonic() > until or self.process.poll() is not None:
                raise RuntimeError(f"the team server does not answer: {(self.home / 'log').read_text()[-500:]}")
            time.sleep(0.05)

    def answers(self) -> bool:
        try:
            with urllib.request.urlopen(f"{self.url}/health", timeout=2) as answer:
                return answer.status == 200
        except (urllib.error.URLError, OSError):
            return False

    def kill(self) -> None:
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()

    def stop(self) -> None:
        self.process.terminate()
        try:
            self.process.wait(30)
        except subprocess.TimeoutExpired:
            self.kill()


def free_port() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]
