//! Finds text that belongs to one machine or one moment: hosts of package registries, absolute paths, reminders.

use super::tree::{is_sample, speaks_of_others};
use super::{Finding, Tree, allowed, numbered};

/// Split into halves, so that this file passes its own check.
const REGISTRIES: &[&str] = &[
    concat!("crates", ".io"),
    concat!("registry.npmjs", ".org"),
    concat!("registry.yarnpkg", ".com"),
    concat!("pypi", ".org"),
    concat!("files.pythonhosted", ".org"),
    concat!("deb.debian", ".org"),
    concat!("static.rust-lang", ".org"),
];

/// Folders that exist only on some machines.
const MACHINE_PATHS: &[&str] = &[concat!("/wo", "rk/"), concat!("/ro", "ot/")];

/// Words that mark unfinished work.
const UNDONE: &[&str] = &[concat!("TO", "DO"), concat!("FIX", "ME")];

/// The lock file, in which cargo writes the registry's address.
const LOCK: &str = "Cargo.lock";

pub(super) fn check(tree: &Tree) -> Vec<Finding> {
    tree.texts().filter(|(path, _)| *path != LOCK).flat_map(|(path, text)| check_text(path, text)).collect()
}

fn check_text(path: &str, text: &str) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (number, line) in numbered(text) {
        let mut found = |wrong: String, fix: &str| findings.push(Finding::new(path, number, wrong, fix));
        for host in REGISTRIES.iter().filter(|host| line.contains(**host) && !allowed(line, "registry")) {
            found(format!("names the registry host `{host}`"), "Name the package; its client knows where to get it");
        }
        for folder in MACHINE_PATHS.iter().filter(|folder| is_absolute(line, folder) && !allowed(line, "path")) {
            found(
                format!("names the machine's own folder `{folder}`"),
                "Use a relative path, or one that is clearly made up",
            );
        }
        let ours = !is_sample(path) && !speaks_of_others(path);
        for word in UNDONE.iter().filter(|word| ours && has_word(line, word) && !allowed(line, "undone")) {
            found(format!("says `{word}`"), "Do it, or open an issue");
        }
    }
    findings
}

/// Returns whether a path starts with the folder, as opposed to containing it further down.
fn is_absolute(line: &str, folder: &str) -> bool {
    line.match_indices(folder).any(|(at, _)| {
        let before = line[..at].chars().next_back();
        !before.is_some_and(|c| c.is_alphanumeric() || "._-~*}])>$/".contains(c))
    })
}

fn has_word(line: &str, word: &str) -> bool {
    line.split(|c: char| !(c.is_alphanumeric() || c == '_')).any(|found| found == word)
}

#[cfg(test)]
mod tests {
    use expect_test::expect;
    use weir_check::Checked;

    use super::super::findings;
    use super::{MACHINE_PATHS, REGISTRIES, UNDONE};

    fn check(path: &str, line: &str) -> Checked {
        Checked(findings(super::check, &[(path, line)]))
    }

    #[test]
    fn hosts_of_registries_are_found_except_in_the_lock() {
        let line = format!("get it from {}", REGISTRIES[0]);
        check("Cargo.lock", &line).shows(&expect![""]);
        assert!(findings(super::check, &[("a.md", &line)]).starts_with("a.md:1: names the registry host"));
    }

    #[test]
    fn absolute_paths_are_found_and_relative_ones_are_not() {
        for folder in MACHINE_PATHS {
            let found = findings(super::check, &[("a.sh", &format!("ls\ncp \"{folder}x\" y"))]);
            assert!(found.starts_with("a.sh:2: names the machine's own folder"), "{found}");
            check("a.sh", &format!("cp src{folder}x $X{folder}y ~{folder}z")).shows(&expect![""]);
        }
    }

    #[test]
    fn undone_things_are_found_except_in_recorded_output() {
        let line = format!("// {}: later", UNDONE[0]);
        assert!(findings(super::check, &[("a.rs", &line)]).starts_with("a.rs:1: says"));
        check("tests/fixtures/a.txt", &line).shows(&expect![""]);
        check("a.rs", &format!("{line} // tidy: allow(undone)")).shows(&expect![""]);
    }
}
