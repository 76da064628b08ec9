#!/usr/bin/env python3
"""gitrepo.py DOMAIN DIR COMMITS: a git history made with real git commands.

Authors are roles, dates are fixed, the random seed is the domain's.
"""
import os
import subprocess
import sys
import datetime

from codebase import build, write, Fn, File, CAMEL, VERBS, FIELDS, ROLES

domain, root, commits = sys.argv[1], sys.argv[2], int(sys.argv[3])
dom, rng, files, plain = build(domain, 6)
AUTHORS = [("api team", "api@example.org"), ("web team", "web@example.org"), ("data team", "data@example.org"),
           ("platform team", "platform@example.org"), ("release bot", "release@example.org"), ("security team", "security@example.org")]
now = datetime.datetime(2025, 1, 6, 8, 12, 0, tzinfo=datetime.timezone.utc)
os.makedirs(root, exist_ok=True)
ENV = dict(os.environ, GIT_CONFIG_GLOBAL="/dev/null", GIT_CONFIG_SYSTEM="/dev/null")


def git(*args, check=True):
    return subprocess.run(["git", *args], cwd=root, env=ENV, check=check, capture_output=True, text=True).stdout


def commit(subject, body="", who=None):
    global now
    now += datetime.timedelta(minutes=rng.randint(7, 900))
    name, mail = who or rng.choices(AUTHORS[:4], [5, 4, 3, 2])[0]
    stamp = now.strftime("%Y-%m-%dT%H:%M:%S+0000")
    for k, v in (("AUTHOR", 0), ("COMMITTER", 0)):
        ENV[f"GIT_{k}_NAME"], ENV[f"GIT_{k}_EMAIL"], ENV[f"GIT_{k}_DATE"] = name, mail, stamp
    git("add", "-A")
    git("commit", "-q", "--allow-empty", "-m", subject + ("\n\n" + body if body else ""))


def save(f):
    p = os.path.join(root, f.path)
    os.makedirs(os.path.dirname(p), exist_ok=True)
    open(p, "w").write(f.render())


def pick():
    hot = [p for p in files if "/orders/service" in p or "/journal/service" in p or "/tiles/service" in p]
    return files[hot[0]] if hot and rng.random() < 0.16 else files[rng.choice(sorted(files))]


git("init", "-q", "-b", "main")
write(root, files, plain)
commit(f"Import the {domain} code base", who=AUTHORS[3])
last_release, minor = 0, 1
for n in range(1, commits):
    f = pick()
    mod = f.path.split("/")[-2]
    short = mod.replace(domain + "-", "")
    if short == "src":
        short = f.path.split("/")[1].replace(domain + "-", "")
    kind = rng.choices(["add", "tune", "fix", "drop", "new", "doc", "config", "log", "refactor"], [24, 16, 24, 6, 8, 7, 9, 8, 3])[0]
    fn = rng.choice(f.fns) if f.fns else None
    if n == commits * 2 // 3:  # one large mechanical change
        for g in files.values():
            for x in g.fns:
                x.timeout = {2: 4, 3: 4, 5: 8, 10: 8, 15: 16, 30: 32}.get(x.timeout, x.timeout)
            save(g)
        commit("refactor: round all timeouts to powers of two",
               "Mechanical change, no behaviour depends on the exact values.\nThe old values came from three different defaults.", who=AUTHORS[3])
        continue
    if n == commits // 2:
        for g in files.values():
            for x in g.fns:
                if x.note and x.note.startswith("FIXME"):
                    x.note, x.guard = None, True
            save(g)
        commit("security: reject missing identifiers before any write",
               "Requests without an identifier reached the store and locked the\nfirst row. Found in the review of the audit trail.\n\nRefs: SEC-118", who=AUTHORS[5])
        continue
    if n - last_release >= commits // 8:
        plain["VERSION"] = f"1.{minor}.0\n"
        open(os.path.join(root, "VERSION"), "w").write(plain["VERSION"])
        commit(f"release: 1.{minor}.0", who=AUTHORS[4])
        git("tag", f"v1.{minor}.0")
        last_release, minor = n, minor + 1
        continue
    if n % 57 == 0:
        git("revert", "--no-edit", "HEAD", check=False)
        git("checkout", "-q", "-f", "HEAD", check=False)
        write(root, files, plain)
        commit(f"Reapply \"{git('log', '-2', '--format=%s').splitlines()[-1]}\"", "The revert was a mistake: the failing job was unrelated.")
        continue
    if kind == "add" or not f.fns:
        x = Fn(rng, dom)
        if x.name in [y.name for y in f.fns]:
            x.verb, x.noun = "refresh", rng.choice(dom["nouns"])
        f.fns.insert(rng.randint(0, len(f.fns)), x)
        save(f)
        msg = (f"{short}: add {x.name}", rng.choice(["", "", f"Needed by the {rng.choice(dom['modules'])} module for the nightly run."]))
    elif kind == "tune":
        old = fn.limit
        fn.limit = rng.choice([v for v in (15, 30, 40, 75, 150, 300, 750) if v != old])
        save(f)
        msg = (f"{short}: change the limit of {fn.name} from {old} to {fn.limit}", rng.choice(["", "Measured on the staging data set."]))
    elif kind == "fix":
        fn.shape = (fn.shape + rng.randint(1, 4)) % 5
        fn.guard = True
        if rng.random() < 0.4:
            fn.fields = rng.sample(FIELDS, 3)
        save(f)
        what = rng.choice(["wrong {} after a retry", "stale {} in the cache", "lost update of {}", "missing check of {}"]).format(fn.fields[0])
        msg = (f"fix({short}): {what} in {fn.name}", rng.choice(["", f"Fixes #{rng.randint(120, 980)}", f"The {fn.fields[0]} was read before the lock was taken.\n\nFixes #{rng.randint(120, 980)}"]))
    elif kind == "drop" and len(f.fns) > 1:
        f.fns.remove(fn)
        save(f)
        msg = (f"{short}: remove unused {fn.name}", "")
    elif kind == "new":
        base = os.path.dirname(f.path)
        path = f"{base}/{rng.choice(ROLES)}_{rng.choice(dom['nouns'])}.{f.lang}"
        files[path] = File(path, f.lang, rng, dom, rng.randint(2, 6))
        save(files[path])
        msg = (f"{short}: new {os.path.basename(path)}", f"First part of the work on {rng.choice(dom['nouns'])} handling.")
    elif kind == "doc":
        key = rng.choice([k for k in plain if k.startswith("docs/")])
        plain[key] += f"- `{rng.choice(VERBS)}_{rng.choice(dom['nouns'])}` may return nothing when the {rng.choice(dom['nouns'])} is archived.\n"
        open(os.path.join(root, key), "w").write(plain[key])
        msg = (f"docs: notes on {os.path.basename(key)[:-3]}", "")
    elif kind == "config":
        key = rng.choice([k for k in plain if k.startswith("config/")])
        value = rng.choice([250, 750, 1500, 2000, 5000])
        plain[key] = "\n".join(l if "timeout_ms" not in l else f"  timeout_ms: {value}" for l in plain[key].splitlines()) + "\n"
        open(os.path.join(root, key), "w").write(plain[key])
        msg = (f"config: database timeout of {os.path.basename(key)[:-5]} is {value} ms", "")
    elif kind == "refactor":
        for x in f.fns:
            x.noun = fn.noun if rng.random() < 0.2 else x.noun
            x.log = not x.log
        save(f)
        msg = (f"refactor({short}): logging in {os.path.basename(f.path)}", "No functional change.")
    else:
        fn.log = not fn.log
        fn.note = None
        save(f)
        msg = (f"{short}: {'log' if fn.log else 'less logging'} in {fn.name}", "")
    commit(*msg)
    if n % 90 == 45:  # a side branch and a merge
        git("checkout", "-q", "-b", f"feature-{n}", "HEAD~3")
        p = os.path.join(root, f"docs/decision-{n}.md")
        open(p, "w").write(f"# Decision {n}\n\nThe {short} module keeps its own cache.\n")
        commit(f"docs: decision record {n}")
        git("checkout", "-q", "main")
        now += datetime.timedelta(minutes=3)
        ENV["GIT_AUTHOR_DATE"] = ENV["GIT_COMMITTER_DATE"] = now.strftime("%Y-%m-%dT%H:%M:%S+0000")
        git("merge", "-q", "--no-ff", "-m", f"Merge branch 'feature-{n}'", f"feature-{n}")
        plain[f"docs/decision-{n}.md"] = open(p).read()
