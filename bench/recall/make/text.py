#!/usr/bin/env python3
"""Makes long texts: manuals, changelogs, minutes and reports of invented projects.
usage: text.py NAME > output"""
import datetime as dt, random, sys, textwrap


def manual():
    """The manual of `tideline`, an invented backup tool."""
    r = random.Random(101)
    print("# Tideline\n\nTideline keeps copies of folders on other machines. It sends only what has changed, it encrypts before it sends, and it\ncan be asked at any time whether a copy can really be read back.\n")
    print("> **Warning:** copies made with Tideline 1.x cannot be read by 3.x. Run `tideline upgrade` with a 2.x version first.\n\n## Contents\n")
    cmds = {"init": "makes a new store", "save": "copies a folder into the store", "list": "names the copies that are kept", "restore": "writes a copy back", "verify": "reads a copy and compares it", "forget": "marks old copies for removal", "sweep": "frees the room of forgotten copies",
            "mount": "shows a copy as a folder", "diff": "names what differs between two copies", "key": "adds and removes keys", "sync": "sends a store to another place", "watch": "saves whenever files change", "upgrade": "rewrites a store of an older version"}
    for c in cmds:
        print(f"- [`tideline {c}`](#tideline-{c})")
    print("\n## Install\n\n```sh\ncargo install tideline\n```\n\nTideline needs Linux 5.4 or newer and 200 MB of memory for each million files. It has no service to install.\n")
    print("## Quick start\n\n```sh\ntideline init /mnt/backup/store\ntideline save --store /mnt/backup/store ~/documents\ntideline list --store /mnt/backup/store\n```\n\nThe first command asks for a passphrase. **There is no way to reset it**: write it down and keep it away from the machine.\n")
    opts = [("--store PATH", "the store to work on", "$TIDELINE_STORE"), ("--quiet", "print errors only", "off"), ("--json", "print one JSON object a line", "off"), ("--jobs N", "how many files are read at once", "4"), ("--limit RATE", "the highest speed of sending", "none"), ("--exclude GLOB", "leave out what matches", "none"), ("--dry-run", "say what would be done, and do nothing", "off")]
    why = ["This is the command that most people run by hand.", "It is safe to stop it at any time: what was written stays, what was not is written next time.", "Run it from a timer rather than by hand.", "It takes a lock on the store, so that two of them never run at once.", "On slow disks it is worth giving more jobs; on slow networks it is not.", "It never changes the folder it reads."]
    codes = [(0, "all went well"), (1, "some files could not be read, the copy is kept"), (2, "the store is locked by another process"), (3, "the passphrase is wrong"), (9, "the store is damaged, run verify --repair")]
    for c, what in cmds.items():
        print(f"## tideline {c}\n\n`tideline {c}` {what}. {r.choice(why)} {r.choice(why)}\n\n### Options of {c}\n\n| Option | Meaning | Default |\n|---|---|---|")
        for o, m, d in r.sample(opts, 5):
            print(f"| `{o}` | {m} | {d} |")
        print(f"\n### Examples of {c}\n")
        for i in range(5):
            print(f"```console\n$ tideline {c} --store /mnt/{r.choice(['disk', 'nas', 'cloud'])}{i} {r.choice(['~/photos', '~/documents', '/etc', '/srv/data'])}\n{r.randint(100, 99999)} files, {r.randint(1, 900)} MB, {r.randint(1, 300)} s\n```\n")
        if c == "sweep":
            print("A sweep reads the whole index. On a store of 2 TB it takes about 40 minutes, and during that time no other command can write.\n")
        if c == "verify":
            print("By default verify reads 5 % of the data, chosen anew each time. Give `--all` to read everything; do this at least every quarter.\n")
        if c == "key":
            print("A store can have up to 16 keys. Removing the last one is refused.\n")
        for i in range(7):
            print(f"{r.choice(['When', 'If', 'As soon as'])} {r.choice(['the store is on another machine', 'a file changes while it is read', 'the disk is full', 'the connection breaks', 'a folder has more than a million entries'])}, {r.choice(['the command waits and tries again three times', 'a warning is printed and the work goes on', 'the command stops with code 1', 'the part that was sent is kept for a day'])}. {r.choice(['This can be changed in the configuration.', 'See the chapter on exit codes.', 'Nothing is lost by it.', 'The log names the file.'])}\n")
    print("## Exit codes\n\n| Code | Meaning |\n|---|---|")
    for c, m in codes:
        print(f"| {c} | {m} |")
    print("\n## Configuration\n\nTideline reads `~/.config/tideline/config.toml`:\n\n```toml\nstore = \"/mnt/backup/store\"\nkeep_daily = 14\nkeep_weekly = 8\nkeep_monthly = 24\n\n[network]\ntimeout = \"45s\"\nretries = 3\n```\n")
    print("## Known problems\n\n- On file systems without extended attributes, owners are restored but labels are not (issue 212).\n- `watch` misses changes on network drives; use a timer there.\n- Names that are not UTF-8 are stored, but `list --json` prints them with replacement characters.\n\n## License\n\nTideline is under the Apache License 2.0.")


def changelog():
    """The changelog of `quarry`, an invented search server: some forty releases."""
    r = random.Random(103)
    print("# Changelog\n\nAll notable changes of Quarry are written down here. Versions follow semantic versioning.\n\n## [Unreleased]\n\n### Added\n\n- A `--explain-plan` flag for `quarry query` that prints why a shard was skipped.\n")
    day = dt.date(2026, 10, 20)
    parts = ["indexer", "query parser", "cluster protocol", "snapshot store", "admin page", "Python client", "tokenizer", "cache", "metrics endpoint", "compactor"]
    fixed = ["no longer panics on an empty document", "closes its files on shutdown", "counts deleted documents once", "reports the right shard in errors", "no longer waits forever for a lost replica", "keeps the order of equal scores", "accepts dates before 1970", "does not leak a thread for each reload"]
    added = ["can be limited to a number of bytes", "has a dry run", "speaks the second version of the protocol", "writes its progress as JSON", "can be paused and resumed", "takes a list of fields", "knows Finnish and Greek"]
    changed = ["uses a third less memory", "is twice as fast on short queries", "logs at debug instead of info", "waits 30 s instead of 10 s", "needs a name now", "is off by default"]
    major, minor, patch = 6, 2, 1
    for n in range(95):
        print(f"## [{major}.{minor}.{patch}] - {day}\n")
        if (major, minor, patch) == (5, 0, 0):
            print("### Breaking\n\n- The index format is new. Indexes of 4.x are read but not written: run `quarry migrate` before the first write.\n- The port of the cluster protocol moved from 7700 to 7711.\n- Java 11 is no longer enough for the Java client; it needs 17.\n")
        if (major, minor, patch) == (6, 0, 0):
            print("### Breaking\n\n- `max_clause_count` was removed. Use `query.limits.clauses`.\n- Requests without a tenant are answered with 400.\n")
        if (major, minor, patch) == (5, 4, 2):
            print("### Security\n\n- The admin page showed the names of other tenants (QSA-2026-03). All users of 5.3.0 to 5.4.1 should update.\n")
        if (major, minor, patch) == (4, 3, 1):
            print("**Yanked**: this release lost documents when a shard was moved while it was compacted. Use 4.4.0.\n")
        for title, words in (("Added", added), ("Changed", changed), ("Fixed", fixed)):
            k = r.randint(0 if title != "Fixed" else 2, 7)
            if k:
                print(f"### {title}\n")
                for _ in range(k):
                    print(f"- The {r.choice(parts)} {r.choice(words)}. (#{r.randint(100, 4200)})")
                print()
        day -= dt.timedelta(days=r.randint(5, 21))
        if patch:
            patch -= 1
        elif minor:
            minor, patch = minor - 1, r.randint(1, 3)
        else:
            major, minor, patch = major - 1, 5, 2
            if major == 3:
                break
    print("## Older\n\nReleases before 4.0.0 are described in `docs/history.md`.")


def reference():
    """The reference of the HTTP interface of `lantern`, an invented feature flag server."""
    r = random.Random(149)
    things = {"flag": "switches a feature on and off", "segment": "is a group of users", "rule": "says who gets which variant", "variant": "is one of the values of a flag", "environment": "is a place where flags have values of their own", "project": "holds flags and environments", "token": "lets a program in", "webhook": "tells another system of changes", "change": "is an entry of the history", "approval": "lets a second person agree", "schedule": "changes a flag at a set time", "metric": "counts how often a variant was given", "experiment": "compares variants", "member": "is somebody with access", "role": "is a set of rights"}
    print("# Lantern HTTP reference\n\nVersion 12 of the interface. All paths begin with `/api/v12`. Requests and answers are JSON.\n\n## Authentication\n\nSend `Authorization: Lantern <token>`. Tokens that begin with `srv-` are for servers, tokens that begin with `web-` may be shown to browsers and can only read.\n\n## Limits\n\n| Plan | Requests a minute | Flags |\n|---|---|---|\n| Free | 60 | 25 |\n| Team | 1200 | 500 |\n| Company | 9000 | no limit |\n\nBeyond the limit the answer is 429 with the header `Retry-After`.\n\n> **Note:** version 11 is switched off on 31 March 2027.\n")
    for t, what in things.items():
        cap = t.capitalize()
        print(f"## {cap}s\n\nA {t} {what}.\n\n### The {t} object\n\n| Field | Type | Notes |\n|---|---|---|\n| `id` | string | never changes |\n| `name` | string | up to {r.choice([40, 64, 100])} characters |\n| `createdAt` | time | set by the server |\n| `archived` | boolean | archived {t}s are kept for {r.choice([30, 90, 365])} days |\n")
        for verb, path, text in (("GET", f"/{t}s", f"Lists {t}s, newest first, at most 100 at once."), ("POST", f"/{t}s", f"Makes a {t}."), ("GET", f"/{t}s/{{id}}", f"Gives one {t}."), ("PATCH", f"/{t}s/{{id}}", f"Changes some fields of a {t}; fields that are not named stay."), ("DELETE", f"/{t}s/{{id}}", f"Archives a {t}. It can be brought back with `POST /{t}s/{{id}}/restore`.")):
            print(f"### {verb} {path}\n\n{text} {r.choice(['Needs the right `read`.', 'Needs the right `write`.', 'Needs a server token.'])}\n\n```http\n{verb} /api/v12{path.replace('{id}', t[:2] + '_' + str(r.randint(100, 999)))}\nAuthorization: Lantern srv-example\n```\n\n```json\n{{\n  \"id\": \"{t[:2]}_{r.randint(100, 999)}\",\n  \"name\": \"{r.choice(['dark mode', 'new checkout', 'beta search', 'fast export'])}\",\n  \"archived\": false\n}}\n```\n\n| Status | When |\n|---|---|\n| {201 if verb == 'POST' else 200} | done |\n| 403 | the token lacks the right |\n| 404 | there is no such {t}, or it is archived |\n| 409 | {r.choice(['somebody else changed it since it was read', 'the name is taken', 'an approval is open'])} |\n")
            if t == "flag" and verb == "DELETE":
                print("**Careful:** a flag that is read by a running experiment cannot be archived; the answer is 423 and names the experiment.\n")
            if t == "schedule" and verb == "POST":
                print("Times are rounded down to the minute. A schedule less than five minutes ahead is refused with 422.\n")
    print("## Errors\n\nEvery error has `code`, `message` and `requestId`. Give the last to support.\n\n| Code | Meaning |\n|---|---|\n| `LT-1001` | the token has expired |\n| `LT-2040` | the flag has no rule for this environment |\n| `LT-3007` | the webhook was switched off after 20 failures |\n")


def wrapped(s, width=100, indent=""):
    print(textwrap.fill(s, width, initial_indent=indent, subsequent_indent=indent))


def minutes():
    """Minutes of a year of weekly meetings of a harbour's data team; the roles speak, not persons."""
    r = random.Random(107)
    day = dt.date(2026, 1, 7)
    roles = ["the chair", "the operations lead", "the data engineer", "the security officer", "the product owner", "the support desk"]
    topics = {"berth planning": ["the forecast for ship arrivals is off by two hours on rainy days", "the planners want to see tugs on the same map", "the export to the customs office stopped twice", "the new screen was shown to four planners, who liked the colours less than the speed"],
              "sensors": ["seven of the tide gauges were cleaned", "the buoy at the north mole sends its position twice", "batteries are changed in spring", "the wind sensor on crane 4 reads zero since the storm"],
              "data platform": ["the nightly load takes five hours now", "the old warehouse can be switched off when the last report has moved", "the budget for storage is used up to two thirds", "a copy of the archive was read back as a test and was complete"],
              "staff and training": ["two places in the course on data protection are open", "the rota for July has a gap in the second week", "the guide for newcomers was read by its first reader and needs pictures"]}
    verbs = ["reported that", "said that", "noted that", "reminded everybody that", "asked to write down that"]
    print("MINUTES OF THE DATA TEAM, PORT OF EASTHAVEN, 2026\n=================================================\n")
    for week in range(46):
        print(f"Meeting {week + 1}, {day:%d %B %Y}\n" + "-" * 30 + f"\nPresent: {', '.join(r.sample(roles, r.randint(3, 6)))}.\n")
        for no, topic in enumerate(r.sample(list(topics), r.randint(2, 4)), 1):
            print(f"{no}. {topic.capitalize()}\n")
            said = r.sample(topics[topic], min(len(topics[topic]), r.randint(2, 3)))
            wrapped(" ".join(f"{r.choice(roles).capitalize()} {r.choice(verbs)} {x}." for x in said) + " " + r.choice(["There was no objection.", "This was discussed at some length.", "Nobody had a better idea.", "It was left open.", "The point comes back in two weeks."]))
            print()
        if week == 17:
            wrapped("DECISION 7: The contract for the satellite link is not renewed. It ends on 31 August 2026, and the saving of 41,300 EUR a year goes to the fibre to the north mole.")
            print()
        if week == 28:
            wrapped("DECISION 8: After the loss of nine hours of tide data on 14 July, every gauge gets a local buffer of 72 hours. The cause was a full disk on the relay host; the alarm had been muted for a test in May and never switched on again.")
            print()
        if week == 40:
            wrapped("DECISION 9: The old warehouse is switched off on 1 December 2026. The reports still on it are moved by 13 November; what is not moved by then is dropped.")
            print()
        if week % 5 == 2:
            wrapped(f"ACTION: {r.choice(roles)} {r.choice(['writes a proposal', 'asks the supplier', 'prepares a test', 'counts the open tickets'])} by {day + dt.timedelta(days=14):%d %B}.")
            print()
        print(f"Next meeting: {day + dt.timedelta(days=7):%d %B %Y}. Closed at {r.randint(10, 11)}:{r.choice(['05', '20', '40', '55'])}.\n\n")
        day += dt.timedelta(days=7)


def report():
    """A report on an outage and on the audit after it, in plain text."""
    r = random.Random(109)
    print("REPORT ON THE OUTAGE OF THE BOOKING SYSTEM AND ON THE AUDIT THAT FOLLOWED\nPrepared by the reliability group for the board. Version 1.3, 9 October 2026.\n\nSUMMARY\n")
    wrapped("On Friday, 18 September 2026, the booking system of the railway was not available from 06:12 to 10:47, four hours and 35 minutes. 61,840 bookings could not be made, and 212 were made twice. No data was lost. The cause was a certificate of the message broker that had expired; the recovery took long because the copy of the configuration that should have been used was itself eleven months old.")
    print("\nTIMELINE\n")
    for t, s in [("06:12", "The broker refuses connections. The first alarm goes to a mailbox that nobody reads on Fridays."), ("06:31", "The call centre reports that no booking can be made."), ("06:58", "The engineer on duty restarts the booking service twice, without effect."), ("07:40", "The expired certificate is found in the log of the broker."), ("08:15", "A new certificate is made, but the configuration from the archive does not fit the version of the broker."), ("09:50", "The configuration is written anew by hand and checked by a second engineer."), ("10:47", "Bookings work again."), ("14:20", "The 212 double bookings are found and paid back.")]:
        wrapped(f"{t}  {s}")
    print()
    areas = ["certificates", "alarms", "archives", "duty rota", "suppliers", "documentation", "access rights", "capacity", "spare parts", "exercises", "contracts", "change control"]
    sites = ["the control centre", "the eastern depot", "the ticket offices", "the call centre", "the data hall", "the test track", "the workshop", "the harbour station"]
    found = ["the list was complete and up to date", "a third of the entries had no owner", "the procedure existed but had not been tried for two years", "two systems were missing from the list", "the staff knew what to do without looking it up", "the paper copy differed from the file", "the contact named had left the post", "everything asked for was shown within the hour"]
    advice = ["We recommend to name an owner for each entry.", "No action is needed.", "We recommend an exercise every half year.", "The gap was closed while we were there.", "The site will report again by the end of the year.", "A reminder should be sent 60 days ahead."]
    for n, area in enumerate(areas, 1):
        print(f"\n{n}. {area.upper()}\n")
        for m, site in enumerate(r.sample(sites, 7), 1):
            wrapped(f"{n}.{m} At {site} we looked at the {area}. {r.choice(['During the visit', 'In the interviews', 'From the records'])} we saw that {r.choice(found)}, and that {r.choice(found)}. {r.choice(['This is better than a year ago.', 'This is as it was a year ago.', 'There is no earlier result to compare with.'])} {r.choice(advice)}")
            print()
        if area == "certificates":
            wrapped("FINDING A (severe): 14 of 93 certificates would have expired before the end of the year without anybody being told.")
        if area == "archives":
            wrapped("FINDING B (severe): 3 of 8 archives could not be read back. The oldest copy that could be used was from October 2025.")
        if area == "capacity":
            wrapped("FINDING C (minor): the data hall runs at 71 percent of its cooling power on hot days.")
    print("\nCOSTS\n")
    wrapped("The outage cost 1.94 million EUR, of which 1.2 million are lost sales, 0.51 million refunds and 0.23 million overtime. The measures recommended cost 480,000 EUR once and 95,000 EUR a year.")
    print("\nNEXT STEPS\n")
    wrapped("The board is asked to decide on the measures on 27 October 2026. The reliability group reports again in March 2027.")


{"markdown-manual-tideline": manual, "markdown-reference-lantern": reference, "markdown-changelog-quarry": changelog, "prose-minutes-harbour": minutes, "prose-report-outage": report}[sys.argv[1]]()
