"""Lays out files of one language, what each offers, and what other programs make of each.

FOLDER/LANGUAGE/files/NNN.ext, truth.jsonl (the oracle's lines) and PEER/NNN.ext.txt.
"""

import argparse
import pathlib
import re
import shlex
import shutil
import subprocess

ENDINGS = {"rust": [".rs"], "python": [".py"], "typescript": [".ts", ".tsx"], "go": [".go"]}
# A test says how something is used; an outline is for what is offered.
TESTS = re.compile(r"(^|/)(tests?|testdata|benches|examples|__tests__)/|_test\.go$|(^|/)test_[^/]*\.py$|\.(test|spec)\.tsx?$")

# Bindings and what a program has written are interface from end to end: there is nothing to leave out.
BINDINGS = re.compile(r"(^|/)(windows[^/]*|libc|linux-raw-sys|js-sys|web-sys|objc2[^/]*)-\d|generated|bindings|/vendor/|\.d\.ts$")

WRITTEN = re.compile(r"DO NOT EDIT|@generated|Code generated|[Aa]uto-?generated")


def head(path):
    with path.open(errors="replace") as file:
        return file.read(1_000)


def choose(sources, language, count):
    def fits(path):
        return path.is_file() and path.suffix in ENDINGS[language] and 2_000 <= path.stat().st_size <= 100_000

    def counts(path):
        name = str(path.relative_to(sources))
        return fits(path) and not TESTS.search(name) and not BINDINGS.search(name) and not WRITTEN.search(head(path))

    found = sorted(path for path in sources.rglob("*") if counts(path))
    step = max(len(found) // count, 1)
    return found[::step][:count]


def lay_out(folder, chosen):
    shutil.rmtree(folder, ignore_errors=True)
    files = folder / "files"
    files.mkdir(parents=True)
    for number, path in enumerate(chosen):
        name = f"{number:03}{'.d.ts' if path.name.endswith('.d.ts') else path.suffix}"
        shutil.copyfile(path, files / name)
    (folder / "sources.txt").write_text("".join(f"{path}\n" for path in chosen))
    return sorted(files.iterdir())


def truth(folder, files, oracle):
    names = "".join(f"{file}\n" for file in files)
    lines = subprocess.run(shlex.split(oracle), input=names, capture_output=True, text=True, check=True).stdout
    (folder / "truth.jsonl").write_text(lines)


def keep(folder, peer, file, text):
    to = folder / peer
    to.mkdir(exist_ok=True)
    (to / f"{file.name}.txt").write_text(text)


def ast_grep(folder, files, npm):
    program = npm / "@ast-grep/cli-linux-x64-gnu/ast-grep"
    for file in files:
        ran = subprocess.run([program, "outline", "--view", "expanded", file], capture_output=True, text=True)
        keep(folder, "ast-grep", file, ran.stdout.replace(str(file), file.name))


def ctags(folder, files, _npm):
    form = "%K %N%S :%n"
    for file in files:
        command = ["ctags", "-x", "--sort=no", f"--_xformat={form}", file]
        keep(folder, "ctags", file, subprocess.run(command, capture_output=True, text=True).stdout)


def repomix(folder, files, npm):
    out = folder / "repomix.xml"
    command = [npm / ".bin/repomix", "--compress", "--style", "xml", "--no-gitignore", "--no-default-patterns",
               "--no-security-check", "--output", out, folder / "files"]
    subprocess.run(command, capture_output=True, text=True, check=True)
    for name, text in re.findall(r'<file path="([^"]+)">\n(.*?)\n</file>', out.read_text(), re.S):
        keep(folder, "repomix", pathlib.Path(name), text)


def aider(folder, files, _npm):
    from aider.io import InputOutput
    from aider.repomap import RepoMap

    class Words:
        def token_count(self, text):
            return len(text) // 4

    repo = RepoMap(root=str(folder / "files"), main_model=Words(), io=InputOutput(yes=True, pretty=False))
    for file in files:
        tags = list(repo.get_tags_raw(str(file), file.name))
        lines = [tag.line for tag in tags if tag.kind == "def"]
        keep(folder, "aider", file, repo.render_tree(str(file), file.name, lines) if lines else "")


PEERS = {"ast-grep": ast_grep, "ctags": ctags, "repomix": repomix, "aider": aider}


def main():
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("folder", type=pathlib.Path)
    arguments.add_argument("language", choices=ENDINGS)
    arguments.add_argument("sources", type=pathlib.Path)
    arguments.add_argument("--oracle", required=True)
    arguments.add_argument("--npm", type=pathlib.Path, required=True, help="a folder node_modules")
    arguments.add_argument("--count", type=int, default=150)
    arguments.add_argument("--peers", default=",".join(PEERS))
    given = arguments.parse_args()
    folder = given.folder / given.language
    files = lay_out(folder, choose(given.sources, given.language, given.count))
    truth(folder, files, given.oracle)
    for peer in given.peers.split(","):
        PEERS[peer](folder, files, given.npm)
        print(given.language, peer, len(list((folder / peer).iterdir())), "files")


if __name__ == "__main__":
    main()
