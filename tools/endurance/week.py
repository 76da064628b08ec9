"""The week: people play their sessions side by side, while programs are killed and replaced under them.

A day is a share of the sessions and of the time. At its end everybody syncs and looks at the pages.
"""

import dataclasses
import pathlib
import random
import re
import threading
import time
import uuid

import calm
import checks
import floods
import people
from kills import Kills
from ledger import Ledger, Note
from pages import Pages
from people import Person
from play import Session
from recordings import Recording
from team import TeamServer

PAGES = ["/", "/sessions", "/search?q=test", "/notes", "/window", "/pauses", "/prefix", "/projects", "/health", "/settings"]


@dataclasses.dataclass
class Plan:
    """How much is played."""

    days: int
    seconds: float
    projects: list[str]
    most_hooks: int  # of a session
    every: int  # steps to a call of a tool of Weir
    floods: int  # of the third person, per day
    kill_pause: tuple[float, float]  # seconds between two kills of the server
    variables: dict  # of everybody


class Week:
    def __init__(self, root: pathlib.Path, programs: list[pathlib.Path], server: pathlib.Path, plan: Plan, seed: int, most_kills: int):
        self.root, self.programs, self.plan, self.seed = root, programs, plan, seed
        self.kills = Kills(seed, most_kills)
        self.ledger = Ledger(root / "ledger.jsonl")
        self.people = [Person(root, name, programs[0], plan.variables) for name in people.NAMES]
        self.server = TeamServer(root, server)
        self.server_program = server
        self.over = threading.Event()
        self.played = 0
        self.calm: list[calm.Calm] = []
        # The most that the store with little room had on disk in an evening, in bytes.
        self.fullest = 0

    def furnish(self) -> None:
        """Makes the clones, puts a server behind Weir, and connects everybody to the team."""
        tokens = {}
        for at, person in enumerate(self.people):
            command = ["init"] if at == 0 else ["invite"]
            tokens[person.name] = self.server.admin(*command, person.name)
        self.server.start()
        probe = pathlib.Path(__file__).parent / "probe_server.py"
        for person in self.people:
            (person.home / "token").touch(0o600)
            (person.home / "token").write_text(tokens[person.name])
            for project in self.plan.projects:
                person.clone(project)
            # The last one has little room, so that outputs are evicted.
            if person is self.people[-1]:
                person.configure(f"[retention]\nquota_mb = {people.QUOTA_MB}\n")
            folder = person.project(self.plan.projects[0])
            self._must(person, ["servers", "add", "probe", "--", "python3", str(probe)], folder)
            for project in self.plan.projects:
                self._connect(person, project)

    def _connect(self, person: Person, project: str) -> None:
        token = str(person.home / "token")
        name = ["--project", f"example.org/team/{project}"]
        self._must(person, ["sync", "--server", self.server.url, "--token-file", token, *name], person.project(project))

    def _must(self, person: Person, arguments: list[str], folder: pathlib.Path) -> str:
        ended = person.run(arguments, folder)
        if ended.code != 0:
            raise RuntimeError(f"weir {' '.join(arguments)}: {ended.said}")
        return ended.text

    def play(self, recordings: list[Recording]) -> None:
        """Plays the days one after the other; hooks are timed before and after."""
        self.time_hooks()
        chance = random.Random(self.seed)
        chance.shuffle(recordings)
        troubles = [threading.Thread(target=self._trouble_server), threading.Thread(target=self._upgrade)]
        for thread in troubles:
            thread.start()
        begun = time.monotonic()
        for day in range(self.plan.days):
            until = begun + self.plan.seconds * (day + 1) / self.plan.days
            share = recordings[day :: self.plan.days]
            self._day(day, share, until)
        self.over.set()
        for thread in troubles:
            thread.join()
        self.time_hooks()

    def time_hooks(self) -> None:
        project = self.plan.projects[0]
        self.calm.append(calm.measured(self.people[0], project, len(self.calm) + 1, self.ledger))

    def _day(self, day: int, share: list[Recording], until: float) -> None:
        threads = [
            threading.Thread(target=self._guarded, args=[person, share[at :: len(self.people)], until])
            for at, person in enumerate(self.people)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        for person in self.people:
            self._evening(person, day)
        self.fullest = max(self.fullest, *map(checks.size, checks.stores(self.people[-1])))
        print(f"day {day + 1}: {self.played} sessions, {len(self.ledger.times)} hooks, {len(self.ledger.notes)} notes, "
              f"{len(self.ledger.held)} outputs held, kills {self.kills.made}", flush=True)

    def _guarded(self, person: Person, share: list[Recording], until: float) -> None:
        try:
            self._work(person, share, until)
        except Exception as error:  # noqa: BLE001 - a thread has nobody else to tell
            self.ledger.fail(f"{person.name}: the player broke: {error!r}")

    def _work(self, person: Person, share: list[Recording], until: float) -> None:
        chance = random.Random(f"{self.seed}-{person.name}-{share[0].name if share else ''}")
        if person is self.people[-1]:
            floods.play(person, self.plan.projects[-1], self.plan.floods, chance, self.ledger, self.kills)
        for recording in share:
            if time.monotonic() > until:
                break
            project = chance.choice(self.plan.projects)
            key = str(uuid.UUID(int=chance.getrandbits(128), version=4))
            session = Session(person, project, recording, key, self.ledger, self.kills)
            session.play(until, self.plan.most_hooks, self.plan.every)
            self.played += 1
            self._note(person, project, chance)
            self._sync(person, project)

    def _note(self, person: Person, project: str, chance: random.Random) -> None:
        """Writes a note as a person does, on the command line."""
        word = f"own{chance.randrange(10**7):07d}{person.name}"
        arguments = ["note", f"{word}: the session about {project} is over.", "--kind", "decision", "--json"]
        ended = person.run(arguments, person.project(project))
        found = re.search(r'"reference":\s*"[^"]*?([a-z0-9]{10})\]?"', ended.text)
        if ended.code != 0 or not found:
            self.ledger.fail(f"{person.name} {project}: weir note: {ended.said[:300]}")
        self.ledger.note(Note(project, person.name, word, found[1] if found else ""))

    def _sync(self, person: Person, project: str) -> None:
        """Syncs, or begins to and is killed. The server may be away: then the next one sends what waits."""
        after = self.kills.after("sync", 0.4)
        process = person.start(["sync"], person.project(project))
        if after is None:
            people.finish(process, b"", 120)
            self.ledger.count("sync" if process.returncode == 0 else "sync failed", person.name, project)
            return
        time.sleep(after)
        process.kill()
        process.communicate()
        self.kills.done("sync")

    def _evening(self, person: Person, day: int) -> None:
        """Looks at the pages of one project, and of all of them."""
        folder = person.project(self.plan.projects[day % len(self.plan.projects)])
        pages = Pages(person, folder)
        for path in PAGES:
            status, text, ms = pages.get(path)
            self.ledger.count("page", person.name, "")
            if status != 200:
                self.ledger.fail(f"{person.name}: page {path} answers {status}: {text[:200]}")
        pages.end()

    def _trouble_server(self) -> None:
        shortest, longest = self.plan.kill_pause
        while not self.over.wait(self.kills.pause("server", shortest, longest)):
            if self.kills.may("server"):
                self.server.kill()
                self.kills.done("server")
                self.over.wait(self.kills.pause("server", 0.1, 2))
                self.server.start()

    def _upgrade(self) -> None:
        """Replaces the programs of everybody twice a day, while hooks, servers and syncs of the other one run."""
        pause, round_ = self.plan.seconds / self.plan.days / 2, 0
        while not self.over.wait(pause * self.kills.pause("upgrade", 0.7, 1.3)):
            round_ += 1
            for person in self.people:
                person.upgrade(self.programs[round_ % len(self.programs)])
                self.kills.done("upgrade")
                self.over.wait(0.2)
