//! The usual work of a project on a layer leaves the same files as without one.

use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use crate::support::{Home, said};

/// Whether the contents of the files are compared, too. Compilers write times into them.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Compare {
    Contents,
    Names,
}

/// Runs a command in the same project with and without a layer, and compares what is left.
fn check(fill: &dyn Fn(&Home), command: &str, compare: Compare) {
    let home = Home::with_programs();
    let left = ["off", "on"].map(|layer| {
        let project = home.project();
        std::fs::remove_dir_all(&project).unwrap();
        std::fs::create_dir(&project).unwrap();
        fill(&home);
        let output = home.weir(&["run", "--layer", layer, "--timeout", "100", command]);
        assert!(output.status.success(), "{}", said(&output));
        tree(&project, compare)
    });
    let [direct, layered] = left;
    assert!(direct.len() > 3, "{direct:?}");
    let differs = |(a, b): &(&String, &String)| a != b;
    let first = direct.iter().zip(&layered).find(differs);
    assert!(direct == layered, "{command}: {} and {} files; {first:?}", direct.len(), layered.len());
}

#[test]
fn a_build_with_cargo() {
    let fill = |home: &Home| {
        home.write("Cargo.toml", "[package]\nname = \"small\"\nversion = \"0.1.0\"\nedition = \"2021\"\n");
        home.write("src/main.rs", "fn main() { println!(\"{}\", small::two()) }\n");
        home.write("src/lib.rs", "pub fn two() -> i32 { 2 }\n#[test] fn t() { assert_eq!(two(), 2) }\n");
    };
    check(&fill, "CARGO_INCREMENTAL=0 cargo build -q && CARGO_INCREMENTAL=0 cargo test -q", Compare::Names);
}

#[test]
fn make_with_several_jobs() {
    let fill = |home: &Home| {
        home.write("Makefile", "all: $(patsubst %.in,%.out,$(wildcard *.in))\n%.out: %.in\n\tsort $< > $@\n");
        (0..40).for_each(|n| home.write(&format!("{n}.in"), format!("b\n{n}\na\n")));
    };
    check(&fill, "make -j4 && rm 1.in && make -j4 && touch 2.in && make", Compare::Contents);
}

#[test]
fn an_archive_of_twenty_thousand_files() {
    let fill = |home: &Home| home.write("keep.txt", "x\n");
    let command = "mkdir /tmp/t && cd /tmp/t && for d in $(seq 200); do mkdir d$d; for f in $(seq 100); do \
                   echo $d.$f > d$d/f$f; done; done && tar cf /tmp/all.tar . && cd \"$OLDPWD\" && tar xf /tmp/all.tar && \
                   tar xf /tmp/all.tar && rm -r d1";
    check(&fill, command, Compare::Contents);
}

#[test]
fn an_installation_with_npm_from_a_folder() {
    let fill = |home: &Home| {
        home.write("package.json", r#"{ "name": "app", "version": "1.0.0" }"#);
        home.write("dep/package.json", r#"{ "name": "dep", "version": "1.0.0", "bin": "cli.js" }"#);
        home.write("dep/cli.js", "#!/usr/bin/env node\nconsole.log(1)\n");
    };
    check(&fill, "npm install --offline --no-audit --no-fund ./dep && npm ls", Compare::Contents);
}

#[test]
fn tests_in_python_and_work_with_git() {
    let fill = |home: &Home| {
        home.write(
            "test_two.py",
            "import unittest\nclass T(unittest.TestCase):\n  def test(self): self.assertEqual(2, 2)\n",
        );
        home.write("a.txt", "a\n");
        home.write("b/c.txt", "c\n");
        home.git(&["init", "-q"]);
        home.git(&["add", "-A"]);
    };
    let command = "python3 -B -m unittest -q && git status --short && sed -i s/a/b/ a.txt && git diff --stat && \
                   mv b/c.txt d.txt && ln -s d.txt e && chmod 755 a.txt && git ls-files";
    check(&fill, command, Compare::Contents);
}

/// Returns everything in a folder: names, types, modes and, if asked for, contents.
fn tree(folder: &Path, compare: Compare) -> Vec<String> {
    let entries = walkdir::WalkDir::new(folder).sort_by_file_name().into_iter();
    let entries = entries.filter_entry(|entry| entry.file_name() != ".git").map(Result::unwrap);
    let line = |entry: walkdir::DirEntry| {
        let about = entry.path().symlink_metadata().unwrap();
        let content = match about.file_type() {
            kind if kind.is_symlink() => std::fs::read_link(entry.path()).unwrap().display().to_string(),
            kind if kind.is_file() && compare == Compare::Contents => {
                String::from_utf8_lossy(&std::fs::read(entry.path()).unwrap()).into_owned()
            }
            _ => String::new(),
        };
        format!("{} {:o} {content}", entry.path().display(), about.permissions().mode())
    };
    entries.map(line).collect()
}
