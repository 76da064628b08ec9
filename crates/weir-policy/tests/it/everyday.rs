//! Harmless everyday commands: rules that deny other commands must not hold any of them up.

use expect_test::expect;
use weir_policy::judge::{Verdict, judge};

use crate::help::{rules, verdicts};

const DENY: &[&str] =
    &["Bash(sudo *)", "Bash(rm -rf /*)", "Bash(git push --force *)", "Bash(curl *)", "Bash(npm publish:*)"];
const ASK: &[&str] = &["Bash(git push *)", "Bash(docker *)"];

pub(crate) const EVERYDAY: &[&str] = &[
    "cargo test --workspace 2>&1 | tail -5",
    "git log --oneline -n 20",
    "for f in *.rs; do wc -l \"$f\"; done",
    "ls -la",
    "ls -la src/**/*.ts",
    "cat Cargo.toml | grep version",
    "grep -rn 'fn main' --include='*.rs' .",
    "rg -n \"struct \\w+\" crates | head -50",
    "find . -name '*.rs' -not -path './target/*' | xargs wc -l",
    "find . -type f -name '*.log' -exec grep -l ERROR {} +",
    "git status --short",
    "git diff HEAD~1 -- src/lib.rs",
    "git show HEAD:README.md | head -20",
    "git add -A && git commit -m \"fix: handle the empty case\"",
    "git commit -m \"$(cat <<'EOF'\nfix: a thing\n\nIt was broken.\nEOF\n)\"",
    "npm test -- --watch=false",
    "npm run build && npm run lint",
    "npx tsc --noEmit",
    "pnpm install --frozen-lockfile",
    "yarn workspaces foreach run test",
    "python -m pytest -q tests/ -k 'not slow'",
    "python3 -c 'import json,sys; print(len(json.load(sys.stdin)))' < data.json",
    "python3 - <<'EOF'\nimport json\nprint(json.dumps({'a': 1}))\nEOF",
    "python3 manage.py migrate",
    "node -e 'console.log(process.version)'",
    "node -p \"require('./package.json').version\"",
    "go test ./... -run TestFoo -count=1",
    "go build -o bin/app ./cmd/app",
    "make -j8 all",
    "make test VERBOSE=1",
    "cd crates/weir-core && cargo build --release",
    "RUST_BACKTRACE=1 cargo run --example demo -- --flag value",
    "RUST_LOG=debug,hyper=info ./target/debug/server --port 8080",
    "env FOO=bar cargo test",
    "timeout 60 cargo test -p weir-core",
    "time cargo build",
    "awk '{print $1}' access.log | sort | uniq -c | sort -rn | head",
    "awk -F: '$3 > 1000 { print $1 }' users.txt",
    "awk '{ s += $1 } END { print s / NR }' numbers.txt",
    "sed -n '1,200p' src/main.rs",
    "sed -i 's/foo/bar/g' src/*.rs",
    "sed -e 's/a/b/' -e '/^#/d' config.ini",
    "sed -i \"s/$OLD/$NEW/g\" file.txt",
    "jq '.items[] | {id, name}' data.json",
    "jq -r '.[] | select(.a > 1) | .b' < x.json",
    "wc -l $(git ls-files '*.rs')",
    "echo \"hello $USER, it is $(date +%H:%M)\"",
    "echo $((1 + 2 * 3))",
    "i=0; while [ $i -lt 10 ]; do echo $i; i=$((i + 1)); done",
    "if [ -f package.json ]; then cat package.json; else echo none; fi",
    "if [[ \"$OSTYPE\" == darwin* ]]; then echo mac; fi",
    "[ -d node_modules ] || npm ci",
    "[[ $x =~ ^[0-9]+$ ]] && echo number",
    "case \"$1\" in start) echo start ;; stop|halt) echo stop ;; *) echo other ;; esac",
    "mkdir -p a/b/c && touch a/b/c/d.txt",
    "cp -r src dst; mv dst old; rm -rf old",
    "rm -rf target/debug/incremental",
    "tar czf out.tgz --exclude=node_modules .",
    "tar -xzf archive.tar.gz -C /tmp/x --strip-components=1",
    "diff -u <(sort a.txt) <(sort b.txt)",
    "cat > notes.txt <<'EOF'\nIt's a \"note\" with $(nothing) run.\nEOF",
    "cat <<EOF > config.toml\nname = \"$NAME\"\nEOF",
    "ps aux | grep node | awk '{print $2}' | head -3",
    "du -sh * | sort -h",
    "df -h . ; free -m",
    "command -v node >/dev/null 2>&1 && node --version",
    "which python3 || echo missing",
    "printf '%s\\n' a b c | sort -u",
    "test -e x && echo yes",
    "export PATH=\"$HOME/.cargo/bin:$PATH\"; cargo --version",
    "set -euo pipefail; cargo fmt --check",
    "xargs -n1 -P4 gzip < files.txt",
    "ls | while read -r f; do echo \"$f\"; done",
    "while IFS= read -r line; do echo \"${line%%:*}\"; done < input.txt",
    "for i in $(seq 1 5); do echo \"run $i\"; done",
    "for ((i = 0; i < 3; i++)); do echo $i; done",
    "arr=(a b c); echo \"${arr[@]}\" \"${#arr[@]}\"",
    "f() { echo \"$1\"; }; f hello",
    "bash -c 'set -e; cargo build; cargo test'",
    "bash -lc \"cargo test\"",
    "bash scripts/build.sh --release",
    "sh -x ./install.sh",
    "kill %1 2>/dev/null; wait",
    "sqlite3 app.db 'select count(*) from users'",
    "psql -c 'select 1' mydb",
    "perl -pe 's/foo/bar/' file.txt",
    "ruby -e 'puts 1 + 1'",
    "cargo test \\\n  --workspace \\\n  --no-fail-fast",
    "(cd web && npm test)",
    "{ echo a; echo b; } > out.txt",
    "sleep 1 & wait $!",
    "basename \"$(pwd)\"",
    "nohup ./server > log.txt 2>&1 &",
    "git -c color.ui=always log --stat",
    "git rebase -i HEAD~3",
    "GIT_PAGER=cat git log -3",
    "ssh-keygen -l -f key.pub",
    "rsync -av --delete src/ dst/",
    "tr -d '\\n' < x | cut -c1-80",
    "head -c 100 /dev/urandom | base64",
    "# a comment\nls # another\n",
    "uv run pytest -q",
    "poetry run mypy src",
    "terraform plan -out=plan.bin",
    "kubectl get pods -n default -o json | jq '.items | length'",
];

/// Harmless commands that still need confirmation with these rules.
const HELD_UP: &[&str] = &[
    // The name is a variable.
    "$EDITOR notes.txt",
    "\"${CMD[@]}\" --flag",
    // An unknown word might be the flag that a rule denies.
    "git push $REMOTE",
    // Code that starts programs, however harmless.
    "python3 -c 'import subprocess; subprocess.run([\"ls\"])'",
    "node -e 'require(\"child_process\").execSync(\"ls\")'",
    // The code that runs is not in the script.
    "cat install.sh | bash",
    "eval \"$(ssh-agent)\"",
    // Two here-documents on one line, which the grammar does not separate.
    "paste <<A <<B\n1\nA\n2\nB",
];

#[test]
fn everyday_commands_are_not_held_up() {
    let rules = rules(DENY, ASK, &[]);
    let held: Vec<String> = EVERYDAY
        .iter()
        .map(|script| judge(&rules, script))
        .filter(|judgement| judgement.verdict != Verdict::Allow)
        .map(|judgement| judgement.to_string())
        .collect();
    assert!(held.is_empty(), "held up:\n{}", held.join("\n"));
    assert!(EVERYDAY.len() >= 60);
}

#[test]
fn the_harmless_ones_that_ask_are_known() {
    expect![[r#"
        ask   $EDITOR notes.txt
        ask   "${CMD[@]}" --flag
        ask   git push $REMOTE
        ask   python3 -c 'import subprocess; subprocess.run(["ls"])'
        ask   node -e 'require("child_process").execSync("ls")'
        ask   cat install.sh | bash
        ask   eval "$(ssh-agent)"
        ask   paste <<A <<B\n1\nA\n2\nB
    "#]]
    .assert_eq(&verdicts(&rules(DENY, ASK, &[]), HELD_UP));
}

#[test]
fn without_rules_nothing_asks() {
    let rules = rules(&[], &[], &["Bash(ls *)"]);
    for script in EVERYDAY.iter().chain(HELD_UP).chain(crate::attacks::ATTACKS).chain(crate::spellings::SPELLINGS) {
        assert_eq!(judge(&rules, script).verdict, Verdict::Allow, "{script}");
    }
}
