"""What must be true at the end. Each check compares the ledger with what the program says and with the disk."""

import dataclasses
import json
import pathlib
import re
import statistics

import people
from ledger import Held, Ledger, sha
from pages import Pages, words
from people import Person

MIB = 1 << 20
ROUNDS = 3


@dataclasses.dataclass
class Result:
    name: str
    ok: bool
    said: str
    faults: list[str] = dataclasses.field(default_factory=list)


def result(name: str, said: str, faults: list[str]) -> Result:
    return Result(name, not faults, said, faults)


def all_of(week, searches: int) -> list[Result]:
    """Runs every check that needs the programs; `processes` comes after the server has stopped."""
    if not week.server.answers():
        week.server.start()
    found = [result("during the week", "no wrong answer, no refusal", week.ledger.trouble), syncs(week)]
    exports = {(person.name, project): export(person, project) for person, project in places(week)}
    found += [
        notes_everywhere(week, exports),
        notes_found(week, searches),
        held_comes_back(week, exports),
        prompts(week, exports),
        figures(week),
        disk(week),
        times(week),
        doctor(week),
        faults(week),
    ]
    return found


def places(week):
    return [(person, project) for person in week.people for project in week.plan.projects]


def syncs(week) -> Result:
    """Everybody syncs everything until nobody has anything new."""
    failed = []
    for round_ in range(ROUNDS):
        for person, project in places(week):
            ended = person.run(["sync"], person.project(project))
            if ended.code != 0:
                failed.append(f"{person.name} {project}, round {round_ + 1}: {ended.said[:300]}")
    return result("sync at the end", f"{ROUNDS} rounds of {len(places(week))}", failed)


def export(person: Person, project: str) -> list[dict]:
    ended = person.run(["export"], person.project(project))
    return [json.loads(line) for line in ended.text.splitlines() if line.startswith("{")]


def notes_everywhere(week, exports: dict) -> Result:
    """Every acknowledged note is in the store of everybody; one that was cut off is there once or not at all."""
    missing, twice, cut_off = [], [], 0
    for (name, project), lines in exports.items():
        texts = [line.get("text", "") for line in lines if line.get("type") == "entry" and line["kind"] == "note"]
        has = {}
        for text in texts:
            word = text.split(":")[0]
            has[word] = has.get(word, 0) + 1
        wanted = [note.word for note in week.ledger.notes if note.project == project]
        missing += [f"{name} {project}: no {word}" for word in wanted if word not in has]
        twice += [f"{name} {project}: {word} {number} times" for word, number in has.items() if number > 1]
        cut_off += sum(note.word in has for note in week.ledger.uncertain_notes if note.project == project)
    uncertain = len(week.ledger.uncertain_notes)
    said = f"{len(week.ledger.notes)} acknowledged notes with all {len(week.people)} people"
    return result("notes after sync", f"{said}; of {uncertain} that were cut off, {cut_off} copies", missing + twice)


def notes_found(week, most: int) -> Result:
    """A search for a note finds it, whoever wrote it."""
    wrong, searched = [], 0
    for person, project in places(week):
        notes = [note for note in week.ledger.notes if note.project == project]
        for note in notes[:: max(1, len(notes) // most)][:most]:
            ended = person.run(["search", note.word], person.project(project))
            searched += 1
            if note.word not in ended.text:
                wrong.append(f"{person.name} {project}: {note.word} of {note.person}: {ended.said[:200]}")
    return result("search for notes", f"{searched} searches", wrong)


def held_comes_back(week, exports: dict) -> Result:
    """Every output that was held back comes back as it was, or the program says that the quota evicted it."""
    wrong, kinds = [], {"as sent": 0, "redacted": 0, "of unknown shape": 0, "evicted": 0}
    redacted = {
        (place, line["reference"])
        for place, lines in exports.items()
        for line in lines
        if line.get("type") == "entry" and line.get("redactions")
    }
    for person, project in places(week):
        for held in week.ledger.held_by(person.name, project):
            kind, fault = came_back(person, held, ((person.name, project), held.reference) in redacted)
            if fault:
                wrong.append(f"{person.name} {project} {held.by} {held.reference}: {fault}")
            else:
                kinds[kind] += 1
    by = ", ".join(f"{sum(one.by == what for one in week.ledger.held)} by {what}" for what in ("hook", "run", "gateway"))
    said = f"{len(week.ledger.held)} ({by}): " + ", ".join(f"{number} {kind}" for kind, number in kinds.items())
    return result("outputs held back", said, wrong)


def came_back(person: Person, held: Held, is_redacted: bool) -> tuple[str, str]:
    ended = person.run(["get", held.reference, "--raw"], person.project(held.project))
    if ended.code == 3 and "evicted" in ended.said:
        has_little_room = person.name == people.NAMES[-1]
        return "evicted", "" if has_little_room else f"evicted without need: {ended.said[:200]}"
    if ended.code != 0:
        return "", ended.said[:300]
    if not held.exact:
        return "of unknown shape", "" if ended.out else "empty"
    if sha(ended.out) == held.sha:
        return "as sent", ""
    return "redacted", "" if is_redacted else f"{len(ended.out)} bytes, sent were {held.size}"


def prompts(week, exports: dict) -> Result:
    """Each prompt whose hook ended is an event; one whose hook was killed may be."""
    wrong, counted = [], 0
    for (name, project), lines in exports.items():
        found = sum(line.get("type") == "event" and line["kind"] == "prompt" for line in lines)
        least = week.ledger.counted("UserPromptSubmit", name, project)
        most = least + week.ledger.counted("killed UserPromptSubmit", name, project)
        counted += found
        if not least <= found <= most:
            wrong.append(f"{name} {project}: {found} prompts, acknowledged {least}, killed {most - least}")
    return result("prompts in the log", f"{counted} events", wrong)


def figures(week) -> Result:
    """`weir stats` and the pages say what the ledger counted, and the same as each other."""
    wrong, exact = [], 0
    for person in week.people:
        pages = Pages(person, person.project(week.plan.projects[0]))
        keys = keys_of_projects(pages)
        for project in week.plan.projects:
            if project in keys:
                faults_, is_exact = figures_of(week.ledger, person, project, pages, keys[project])
                wrong += [f"{person.name} {project}: {fault}" for fault in faults_]
                exact += is_exact
            else:
                wrong.append(f"{person.name}: {project} is not on the page of projects")
        pages.end()
    return result("figures on pages", f"{len(places(week))} projects, {exact} without a kill in between", wrong)


def keys_of_projects(pages: Pages) -> dict[str, str]:
    _, text, _ = pages.get("/projects")
    links = re.findall(r'<a[^>]*href="(/in/[^"/?]+)[^"]*"[^>]*>(.*?)</a>', text, flags=re.S)
    return {words(name): link for link, name in links if words(name)}


def figures_of(ledger: Ledger, person: Person, project: str, pages: Pages, key: str) -> tuple[list[str], bool]:
    ended = person.run(["stats", "--json"], person.project(project))
    stats = json.loads(ended.text or "{}")
    outputs = stats.get("outputs") or {}
    held = ((outputs.get("outcomes") or {}).get("held") or {}).get("outputs", 0)
    seen = (outputs.get("all") or {}).get("outputs", 0)
    killed = ledger.counted("killed PostToolUse", person.name, project)
    replaced = ledger.counted("replaced", person.name, project)
    wrong = []
    if not replaced <= held <= replaced + killed:
        wrong.append(f"stats say {held} held, the ledger {replaced} (killed {killed})")
    own = sum(one.by != "hook" for one in ledger.held_by(person.name, project))
    all_held = (stats.get("all") or {}).get("held", 0)
    if not replaced + own <= all_held <= replaced + own + killed + len(ledger.uncertain_notes):
        wrong.append(f"stats say {all_held} held by hooks and tools, the ledger {replaced} and {own}")
    wrong += pages_agree(pages, key, held, seen, all_held)
    wrong += notes_agree(ledger, person, project, pages, key)
    return wrong, killed == 0


def pages_agree(pages: Pages, key: str, held: int, seen: int, all_held: int) -> list[str]:
    """Compares the pages with `weir stats`, exactly."""
    today, health = words(pages.get(f"{key}?days=30")[1]), words(pages.get(f"{key}/health")[1])
    wrong = []
    shown = re.search(r"tokens of ([\d,]+) outputs?", today)
    if (number(shown[1]) if shown else 0) != all_held:
        wrong.append(f"Today says {shown and shown[0]}, stats {all_held}")
    shown = re.search(r"held back ([\d,]+)", health)
    if (number(shown[1]) if shown else 0) != held:
        wrong.append(f"Health says {shown and shown[0]}, stats {held} of {seen}")
    return wrong


def notes_agree(ledger: Ledger, person: Person, project: str, pages: Pages, key: str) -> list[str]:
    noted = sum(note.project == project for note in ledger.notes)
    cut_off = sum(note.project == project for note in ledger.uncertain_notes)
    page = words(pages.get(f"{key}/notes")[1])
    shown = re.search(r"([\d,]+) notes? (?:on|in)", page)
    on_page = number(shown[1]) if shown else 0
    if not noted <= on_page <= noted + cut_off:
        return [f"Notes shows {on_page}, the ledger has {noted} and {cut_off} cut off"]
    return []


def number(text: str) -> int:
    return int(re.sub(r"\D", "", text))


def disk(week) -> Result:
    """The store of the one who has little room is within their quota, and so is every other.

    The quota evicts when something is stored, so a note is written first. It does not count the first MiB of log and
    index, and knows the size of the index to within a MiB.
    """
    person, project = week.people[-1], week.plan.projects[-1]
    before = max(map(size, stores(person)), default=0)
    person.run(["note", "The week is over.", "--scope", "work"], person.project(project))
    biggest, wrong = {}, []
    for person in week.people:
        sizes = {folder.name: size(folder) for folder in stores(person)}
        biggest[person.name] = max(sizes.values(), default=0)
        limit = people.QUOTA_MB if person is week.people[-1] else 2048
        wrong += [
            f"{person.name} {name}: {bytes_ / MIB:.1f} MiB of {limit}"
            for name, bytes_ in sizes.items()
            if bytes_ > (limit + 2) * MIB
        ]
    said = ", ".join(f"{name} at most {bytes_ / MIB:.1f} MiB" for name, bytes_ in biggest.items())
    most = f"before its last note {before / MIB:.1f}, in an evening {week.fullest / MIB:.1f}"
    return result("disk", f"{said}; quota of {person.name} {people.QUOTA_MB} MiB, {most}", wrong)


def stores(person: Person) -> list[pathlib.Path]:
    return sorted({path.parent for path in person.data.rglob("log.db")})


def size(folder: pathlib.Path) -> int:
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())


def times(week) -> Result:
    """Hooks take as long at the end as at the beginning; half as long again is tolerated on a shared machine."""
    first, last = week.calm
    said = f"p50 and p95 in ms with nothing else played, before: {first}; after: {last}"
    return result("time of hooks", said, ["slower"] if last.p50 > 1.5 * first.p50 else [])


def spread(taken: list[float]) -> str:
    return f"{p(taken, 50):.1f} and {p(taken, 95):.1f} of {len(taken)}"


def p(taken: list[float], percent: int) -> float:
    if len(taken) < 2:
        return taken[0] if taken else 0.0
    return statistics.quantiles(taken, n=100, method="inclusive")[percent - 1]


def doctor(week) -> Result:
    wrong = []
    for person, project in places(week):
        ended = person.run(["doctor", "--deep"], person.project(project))
        if ended.code != 0:
            wrong += [f"{person.name} {project}: {line}" for line in ended.text.splitlines() if line.startswith("✗")]
    return result("weir doctor --deep", f"{len(places(week))} projects", wrong)


def faults(week) -> Result:
    logs = [person.data / "hook-faults.log" for person in week.people]
    lines = [line for log in logs if log.exists() for line in log.read_text().splitlines() if line]
    return result("faults of hooks", f"{len(lines)} lines", lines)


def processes(root: pathlib.Path) -> Result:
    """Nothing that was started in the week still runs. Listeners end by themselves soon after their client."""
    left = people.left_over(root)
    return result("processes left", f"{len(left)}", [f"{pid}: {command}" for pid, command in left])
