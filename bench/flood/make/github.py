"""A small GitHub over the repositories below /srv/flood, for a server that asks one.

Numbers, titles, texts, commits and changes are those of the repositories and of their change logs. Who opened an issue,
its labels, state, dates and comments are made up, the same in every run. usage: github.py PORT
"""
import hashlib
import http.server
import json
import random
import re
import subprocess
import sys
import urllib.parse

API, WEB = "https://api.github.com", "https://github.com"
LABELS = ["bug", "docs", "f:completion", "f:help", "f:parameters", "f:prompt", "f:test runner", "windows", "good first issue"]
STATES = ["open"] * 5 + ["closed"] * 2


def git(repo, *words):
    return subprocess.run(["git", "-C", f"/srv/flood/{repo}", *words], capture_output=True, text=True, check=True).stdout


def number_of(text):
    return int(hashlib.sha256(text.encode()).hexdigest()[:8], 16)


def user(login):
    return {"login": login, "id": number_of(login) % 90_000_000, "node_id": f"U_{number_of(login):x}",
            "avatar_url": f"https://avatars.example/u/{number_of(login) % 90_000_000}?v=4",
            "gravatar_id": "", "url": f"{API}/users/{login}", "html_url": f"{WEB}/{login}",
            "repos_url": f"{API}/users/{login}/repos", "events_url": f"{API}/users/{login}/events{{/privacy}}",
            "type": "User", "user_view_type": "public", "site_admin": False}


def label(repo, name):
    return {"id": number_of(name), "node_id": f"LA_{number_of(name):x}", "name": name, "color": f"{number_of(name):08x}"[:6],
            "url": f"{API}/repos/{repo}/labels/{urllib.parse.quote(name)}", "default": name == "bug", "description": None}


def date(dice, year=2026):
    return f"{year}-{dice.randint(1, 8):02}-{dice.randint(1, 28):02}T{dice.randint(0, 23):02}:{dice.randint(0, 59):02}:{dice.randint(0, 59):02}Z"


def repository(repo):
    owner, name = repo.split("/")
    return {"id": number_of(repo), "node_id": f"R_{number_of(repo):x}", "name": name, "full_name": repo, "private": False,
            "owner": user(owner), "html_url": f"{WEB}/{repo}", "description": None, "fork": False,
            "url": f"{API}/repos/{repo}", "created_at": "2016-09-28T19:10:14Z", "updated_at": "2026-08-20T14:11:02Z",
            "pushed_at": "2026-08-20T14:10:57Z", "git_url": f"git://github.com/{repo}.git",
            "ssh_url": f"git@github.com:{repo}.git", "clone_url": f"{WEB}/{repo}.git", "default_branch": "main"}


def issue(repo, number, body):
    dice = random.Random(number)
    people = [f"dev-{dice.randint(1, 40)}" for _ in range(3)]
    state = dice.choice(STATES)
    created = date(dice)
    labels = dice.sample(LABELS, dice.randint(0, 3))
    url = f"{API}/repos/{repo}/issues/{number}"
    title = re.split(r"(?<=[a-z`)])\. ", body)[0].rstrip(".")
    return {"url": url, "repository_url": f"{API}/repos/{repo}", "labels_url": f"{url}/labels{{/name}}",
            "comments_url": f"{url}/comments", "events_url": f"{url}/events", "html_url": f"{WEB}/{repo}/issues/{number}",
            "id": number_of(url), "node_id": f"I_{number_of(url):x}", "number": number, "title": title,
            "user": user(people[0]), "labels": [label(repo, name) for name in labels], "state": state, "locked": False,
            "assignee": user(people[1]) if number % 3 == 0 else None,
            "assignees": [user(people[1])] if number % 3 == 0 else [],
            "milestone": None, "comments": dice.choice([0, 0, 1, 2, 2, 3, 5, 8, 13, 41]), "created_at": created,
            "updated_at": max(created, date(dice)), "closed_at": max(created, date(dice)) if state == "closed" else None,
            "author_association": dice.choice(["NONE", "NONE", "CONTRIBUTOR", "MEMBER"]),
            "sub_issues_summary": {"total": 0, "completed": 0, "percent_completed": 0}, "body": body,
            "reactions": {"url": f"{url}/reactions", "total_count": dice.choice([0, 0, 0, 1, 4, 17]), "+1": 0},
            "timeline_url": f"{url}/timeline", "state_reason": "completed" if state == "closed" else None}


def issues(repo):
    """What a change log says was an issue."""
    text = open("/srv/flood/click/CHANGES.md").read()
    found = {}
    for bullet in re.findall(r"^- (.*?)(?=^- |^## |\Z)", text, re.M | re.S):
        for number in re.findall(r"\{issue\}`(\d+)`", bullet):
            body = re.sub(r"\{(?:issue|pr)\}`\d+`,?", "", bullet)
            body = " ".join(re.sub(r"\{\w+\}`~?\.?([^`]*)`", r"`\1`", body).split())
            found.setdefault(int(number), issue(repo, int(number), body))
    return [found[number] for number in sorted(found, reverse=True)]


def commits(repo, count):
    fields = git(repo.split("/")[1], "log", f"-{count}", "--format=%H%x1f%T%x1f%P%x1f%an%x1f%ae%x1f%aI%x1f%cn%x1f%ce%x1f%cI%x1f%B%x1e")
    rows = [row.strip().split("\x1f") for row in fields.split("\x1e") if row.strip()]
    for name, tree, parents, author, mail, written, committer, its_mail, at, message in rows:
        url = f"{API}/repos/{repo}/commits/{name}"
        yield {"sha": name, "node_id": f"C_{name[:24]}", "commit": {
                   "author": {"name": author, "email": mail, "date": written},
                   "committer": {"name": committer, "email": its_mail, "date": at}, "message": message.strip(),
                   "tree": {"sha": tree, "url": f"{API}/repos/{repo}/git/trees/{tree}"}, "url": url, "comment_count": 0,
                   "verification": {"verified": False, "reason": "unsigned", "signature": None, "payload": None}},
               "url": url, "html_url": f"{WEB}/{repo}/commit/{name}", "comments_url": f"{url}/comments",
               "author": user(author), "committer": user(committer),
               "parents": [{"sha": parent, "url": f"{API}/repos/{repo}/commits/{parent}"} for parent in parents.split()]}


def pulls(repo, count):
    """A pull request for each commit that names one."""
    made = []
    for commit in commits(repo, 4 * count):
        title, _, body = commit["commit"]["message"].partition("\n")
        named = re.search(r"^(.*) \(#(\d+)\)$", title)
        if not named or len(made) == count:
            continue
        number = int(named[2])
        dice = random.Random(number)
        url, open_now = f"{API}/repos/{repo}/pulls/{number}", dice.random() < 0.3
        ends = {side: {"label": f"dev:{ref}", "ref": ref, "sha": sha, "user": user("dev"), "repo": repository(repo)}
                for side, ref, sha in (("head", f"patch-{number}", commit["sha"]), ("base", "main", commit["parents"][0]["sha"]))}
        made.append({"url": url, "id": number_of(url), "node_id": f"PR_{number_of(url):x}", "number": number,
                     "html_url": f"{WEB}/{repo}/pull/{number}", "diff_url": f"{WEB}/{repo}/pull/{number}.diff",
                     "patch_url": f"{WEB}/{repo}/pull/{number}.patch", "issue_url": f"{API}/repos/{repo}/issues/{number}",
                     "state": "open" if open_now else "closed", "locked": False, "title": named[1],
                     "user": user(commit["commit"]["author"]["name"]), "body": body.strip() or None,
                     "created_at": commit["commit"]["author"]["date"], "updated_at": commit["commit"]["committer"]["date"],
                     "closed_at": None if open_now else commit["commit"]["committer"]["date"],
                     "merged_at": None if open_now else commit["commit"]["committer"]["date"],
                     "merge_commit_sha": commit["sha"], "assignee": None, "assignees": [],
                     "requested_reviewers": [user(f"dev-{dice.randint(1, 9)}")] if open_now and number % 2 else [],
                     "labels": [label(repo, named[1].split(":")[0].split("(")[0])] if ":" in named[1] else [], **ends})
    return made


def files(repo, number):
    """The files of the commit that names a pull request."""
    name = repo.split("/")[1]
    commit = git(name, "log", "-1", "--format=%H", f"--grep=(#{number})$").strip()
    diff = git(name, "show", "--format=", commit)
    for part in re.split(r"(?m)^diff --git ", diff)[1:]:
        path = part.splitlines()[0].split(" b/")[-1]
        patch = part[part.find("\n@@") + 1:] if "\n@@" in part else ""
        added, removed = (len(re.findall(rf"(?m)^\{sign}", patch)) for sign in "+-")
        status = "added" if "\nnew file" in part else "removed" if "\ndeleted file" in part else "modified"
        blob = re.search(r"index \w+\.\.(\w+)", part)
        yield {"sha": blob[1] if blob else "", "filename": path, "status": status, "additions": added, "deletions": removed,
               "changes": added + removed, "blob_url": f"{WEB}/{repo}/blob/{commit}/{urllib.parse.quote(path, '')}",
               "raw_url": f"{WEB}/{repo}/raw/{commit}/{urllib.parse.quote(path, '')}",
               "contents_url": f"{API}/repos/{repo}/contents/{urllib.parse.quote(path, '')}?ref={commit}", "patch": patch}


def code(query, repo):
    name = repo.split("/")[1]
    word = query.split()[0]
    for path in git(name, "grep", "-l", word).split():
        blob = git(name, "rev-parse", f"HEAD:{path}").strip()
        yield {"name": path.rsplit("/", 1)[-1], "path": path, "sha": blob, "url": f"{API}/repos/{repo}/contents/{path}?ref=main",
               "git_url": f"{API}/repos/{repo}/git/blobs/{blob}", "html_url": f"{WEB}/{repo}/blob/main/{path}",
               "repository": {**repository(repo), "description": "example"}, "score": 1.0}


def answer(path, query):
    repo = re.search(r"repo:(\S+)", query.get("q", ""))
    limit = int(query.get("per_page") or query.get("perPage") or 30)
    match path.strip("/").split("/"):
        case ["repos", owner, name, "issues"]:
            return [one for one in issues(f"{owner}/{name}") if query.get("state", "open") in ("all", one["state"])][:limit]
        case ["repos", owner, name, "pulls"]:
            return pulls(f"{owner}/{name}", limit)
        case ["repos", owner, name, "pulls", number, "files"]:
            return list(files(f"{owner}/{name}", number))
        case ["repos", owner, name, "commits"]:
            return list(commits(f"{owner}/{name}", limit))
        case ["search", "issues"]:
            words = [word for word in query["q"].split() if ":" not in word]
            hits = [{**one, "score": 1.0} for one in issues(repo[1]) if all(word.lower() in one["body"].lower() for word in words)]
            return {"total_count": len(hits), "incomplete_results": False, "items": hits[:limit]}
        case ["search", "code"]:
            hits = list(code(query["q"], repo[1]))
            return {"total_count": len(hits), "incomplete_results": False, "items": hits[:limit]}
    raise ValueError(path)


class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        parts = urllib.parse.urlsplit(self.path)
        body = json.dumps(answer(parts.path, dict(urllib.parse.parse_qsl(parts.query)))).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


if __name__ == "__main__":
    http.server.ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), Handler).serve_forever()
