"""Opens `weir ui` as a browser does, fetches its pages over HTTP, and reads figures from them."""

import html
import http.client
import pathlib
import queue
import re
import threading
import time

from people import Person

LINK = re.compile(r"http://(127\.0\.0\.1:\d+)(/open/\S+)")
ANSWER_SECONDS = 120


class Pages:
    """A running `weir ui` of one person, opened in one browser."""

    def __init__(self, person: Person, folder: pathlib.Path):
        self.process = person.start(["ui", "--bind", "127.0.0.1:0"], folder)
        self.process.stdin.close()
        self._lines: queue.Queue = queue.Queue()
        for stream in (self.process.stdout, self.process.stderr):
            threading.Thread(target=self._read, args=[stream], daemon=True).start()
        self.authority, link = self._link()
        self.cookie = ""
        status, headers, _ = self.request(link)
        self.cookie = (headers.get("set-cookie") or "").split(";")[0]
        if status not in (200, 303) or not self.cookie:
            raise RuntimeError(f"the link of weir ui does not open: {status}")

    def _read(self, stream) -> None:
        for line in stream:
            self._lines.put(line.decode("utf-8", "replace"))

    def _link(self) -> tuple[str, str]:
        until = time.monotonic() + ANSWER_SECONDS
        while time.monotonic() < until:
            found = LINK.search(self._lines.get(timeout=ANSWER_SECONDS))
            if found:
                return found[1], found[2]
        raise RuntimeError("weir ui prints no link")

    def request(self, path: str) -> tuple[int, dict, str]:
        connection = http.client.HTTPConnection(self.authority, timeout=ANSWER_SECONDS)
        try:
            connection.request("GET", path, headers={"Cookie": self.cookie})
            answer = connection.getresponse()
            headers = {name.lower(): value for name, value in answer.getheaders()}
            return answer.status, headers, answer.read().decode("utf-8", "replace")
        finally:
            connection.close()

    def get(self, path: str) -> tuple[int, str, float]:
        """Returns a page and how many milliseconds it took, redirects included."""
        begun = time.perf_counter()
        for _ in range(4):
            status, headers, text = self.request(path)
            if "location" not in headers:
                break
            path = headers["location"]
        return status, text, (time.perf_counter() - begun) * 1000

    def end(self) -> None:
        self.process.terminate()
        self.process.wait(30)


def words(page: str) -> str:
    """Returns what a page says, without its markup."""
    text = re.sub(r"<(script|style)\b.*?</\1>", " ", page, flags=re.S)
    return " ".join(html.unescape(re.sub(r"<[^>]+>", " ", text)).split())
