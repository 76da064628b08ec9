//! Checks that the top-level modules of a crate form no cycle, so that each can be read after those that it uses.
//!
//! Invariant: a module uses another if its code has a path from `crate::` to it. Tests may use anything.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use super::{Finding, Tree, file_size, rust_text};

/// The files of a crate that are not modules of it.
const ROOTS: &[&str] = &["main.rs", "lib.rs"];

/// Crates whose modules still form cycles, and how many. A number may only fall.
const CYCLES: &[(&str, usize)] = &[
    ("weir-digest", 1),
    ("weir-outline", 1),
    ("weir-pages", 1),
    ("weir-policy", 1),
    ("weir-records", 2),
    ("weir-runner", 1),
];

/// What stands before a module of tests.
const TESTS: &str = "#[cfg(test)]";

pub(super) fn check(tree: &Tree) -> Vec<Finding> {
    check_with(tree, CYCLES)
}

fn check_with(tree: &Tree, allowed: &[(&str, usize)]) -> Vec<Finding> {
    let graphs = graphs(tree);
    let judge = |(name, graph): (&&str, &Graph<'_>)| {
        let found = cycles(graph);
        let most = allowed.iter().find(|(known, _)| known == name).map_or(0, |(_, most)| *most);
        match found.len() {
            count if count > most => found,
            count if count < most => {
                let wrong = format!("CYCLES says {most} for {name}, which has {count}");
                vec![Finding::new("xtask/src/tidy/module_cycles.rs", 1, wrong, "Lower the number, or remove the row")]
            }
            _ => Vec::new(),
        }
    };
    graphs.iter().flat_map(judge).collect()
}

/// Returns the cycles of one crate, of those that share a module only one.
fn cycles(graph: &Graph<'_>) -> Vec<Finding> {
    let mut reported = BTreeSet::new();
    let mut findings = Vec::new();
    for (module, uses) in graph {
        // A module in several cycles is in one finding, since breaking that one often breaks the others.
        let is_new = |cycle: &Vec<&str>| !cycle.iter().any(|module| reported.contains(module));
        let Some(cycle) = shortest_cycle(graph, module).filter(is_new) else { continue };
        if let Some(place) = cycle.get(1).and_then(|next| uses.get(*next)) {
            let wrong = format!("modules in a cycle: {}", cycle.join(" → "));
            let fix = "Move what one needs of the other into a module that both can use";
            findings.push(Finding::new(place.path, place.line, wrong, fix));
        }
        reported.extend(cycle);
    }
    findings
}

type Graph<'a> = BTreeMap<String, BTreeMap<String, Place<'a>>>;

/// Where a module uses another for the first time.
struct Place<'a> {
    path: &'a str,
    line: usize,
}

/// Returns the graph of each crate, by the name of its folder.
fn graphs(tree: &Tree) -> BTreeMap<&str, Graph<'_>> {
    let mut graphs = BTreeMap::<&str, Graph<'_>>::new();
    for (path, text) in tree.rust().filter(|(path, _)| !file_size::is_tests(path)) {
        let Some((name, inside)) = path.strip_prefix("crates/").and_then(|path| path.split_once("/src/")) else {
            continue;
        };
        if ROOTS.contains(&inside) {
            continue;
        }
        let module = inside.split(['/', '.']).next().unwrap_or_default();
        let uses = graphs.entry(name).or_default().entry(module.to_owned()).or_default();
        for (line, used) in used_names(text) {
            uses.entry(used).or_insert(Place { path, line });
        }
    }
    for graph in graphs.values_mut() {
        let modules: BTreeSet<String> = graph.keys().cloned().collect();
        for (module, uses) in graph {
            uses.retain(|used, _| used != module && modules.contains(used));
        }
    }
    graphs
}

/// Returns the names directly behind `crate::` in the code of a file, with their lines.
fn used_names(text: &str) -> Vec<(usize, String)> {
    let code = rust_text::code_only(text);
    let code = before_tests(&code);
    let mut used = Vec::new();
    for (at, path) in code.match_indices("crate::") {
        if code[..at].ends_with(is_of_name) {
            continue;
        }
        let line = code[..at].matches('\n').count() + 1;
        let rest = &code[at + path.len()..];
        let names = rest.strip_prefix('{').map_or_else(|| vec![first_name(rest)], names_in_group);
        used.extend(names.into_iter().map(|name| (line, name.to_owned())));
    }
    used
}

fn before_tests(code: &str) -> &str {
    let is_module = |at: &usize| {
        let next = code[at + TESTS.len()..].trim_start().lines().next().unwrap_or_default();
        next.starts_with("mod ") && next.ends_with('{')
    };
    let end = code.match_indices(TESTS).map(|(at, _)| at).find(is_module);
    &code[..end.unwrap_or(code.len())]
}

/// Returns the first name of each path in a group such as `{a::b, c::{d, e}}`, without its opening brace.
fn names_in_group(group: &str) -> Vec<&str> {
    let mut names = vec![first_name(group)];
    let mut depth = 0;
    for (at, c) in group.char_indices() {
        match c {
            '{' => depth += 1,
            '}' if depth == 0 => break,
            '}' => depth -= 1,
            ',' if depth == 0 => names.push(first_name(&group[at + 1..])),
            _ => {}
        }
    }
    names
}

fn first_name(text: &str) -> &str {
    let text = text.trim_start();
    &text[..text.find(|c| !is_of_name(c)).unwrap_or(text.len())]
}

fn is_of_name(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

/// Returns the shortest way from a module back to itself, if there is one.
fn shortest_cycle<'a>(graph: &'a Graph<'_>, start: &'a str) -> Option<Vec<&'a str>> {
    let mut ways = VecDeque::from([vec![start]]);
    let mut seen = BTreeSet::new();
    while let Some(way) = ways.pop_front() {
        for used in graph.get(*way.last()?)?.keys() {
            let longer = [way.as_slice(), &[used.as_str()]].concat();
            if used == start {
                return Some(longer);
            }
            if seen.insert(used) {
                ways.push_back(longer);
            }
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use expect_test::expect;
    use weir_check::Checked;

    use super::super::{Tree, findings};

    /// Checks modules that are given by the ends of their paths, next to a root that uses all of them.
    fn check(modules: &[(&str, &str)]) -> Checked {
        let paths: Vec<String> = modules.iter().map(|(path, _)| format!("crates/weir/src/{path}")).collect();
        let mut files = vec![("crates/weir/src/main.rs", "mod a;\nmod b;\nmod c;\nuse crate::{a, b, c};\n")];
        files.extend(paths.iter().zip(modules).map(|(path, (_, text))| (path.as_str(), *text)));
        Checked(findings(super::check, &files))
    }

    #[test]
    fn every_crate_is_checked_and_a_number_of_cycles_may_only_fall() {
        let files = [
            ("crates/x/src/lib.rs", "mod a;\nmod b;\n"),
            ("crates/x/src/a.rs", "use crate::b;\n"),
            ("crates/x/src/b.rs", "use crate::a;\n"),
            ("crates/y/src/a.rs", "use crate::b;\n"),
        ];
        let with = |allowed: &[(&str, usize)]| {
            let found = super::check_with(&Tree::of(&files), allowed);
            found.iter().map(|finding| format!("{finding}\n")).collect::<String>()
        };
        expect![[r#"
            crates/x/src/a.rs:1: modules in a cycle: a → b → a. Move what one needs of the other into a module that both can use.
        "#]]
        .assert_eq(&with(&[]));
        expect![""].assert_eq(&with(&[("x", 1)]));
        expect![[r#"
            xtask/src/tidy/module_cycles.rs:1: CYCLES says 2 for x, which has 1. Lower the number, or remove the row.
        "#]]
        .assert_eq(&with(&[("x", 2)]));
    }

    #[test]
    fn modules_that_use_others_one_way_are_fine() {
        check(&[
            ("a.rs", "use crate::b::B;\nuse crate::c;\nuse crate::a::Own;\n"),
            ("a/inner.rs", "use crate::a;\nuse super::b;\n"),
            ("b.rs", "fn f() { crate::c::f(); crate::elsewhere(); other_crate::a::f(); }\n"),
            ("c.rs", "pub fn f() {}\n"),
        ])
        .shows(&expect![""]);
    }

    #[test]
    fn two_modules_that_use_each_other_are_found_once() {
        check(
            &[("a.rs", "//! A.\n\nuse crate::b;\n"), ("b.rs", ""), ("b/deep/er.rs", "fn f() { crate::a::f() }\n")],
        )
        .shows(&expect![[r#"
            crates/weir/src/a.rs:3: modules in a cycle: a → b → a. Move what one needs of the other into a module that both can use.
        "#]]);
    }

    #[test]
    fn a_longer_cycle_is_found_in_groups_too() {
        check(&[
            ("a.rs", "use crate::{\n    d::{b, c::x},\n    b as other,\n};\n"),
            ("b.rs", "use crate::{d, c::{self, C}};\n"),
            ("c.rs", "pub(crate) use crate::a::A;\n"),
            ("d.rs", ""),
        ])
        .shows(&expect![[r#"
            crates/weir/src/a.rs:1: modules in a cycle: a → b → c → a. Move what one needs of the other into a module that both can use.
        "#]]);
    }

    #[test]
    fn cycles_that_share_no_module_are_all_found() {
        check(&[
            ("a.rs", "use crate::b;\n"),
            ("b.rs", "use crate::a;\nuse crate::c;\n"),
            ("c.rs", "use crate::d;\n"),
            ("d.rs", "use crate::c;\n"),
        ])
        .shows(&expect![[r#"
            crates/weir/src/a.rs:1: modules in a cycle: a → b → a. Move what one needs of the other into a module that both can use.
            crates/weir/src/c.rs:1: modules in a cycle: c → d → c. Move what one needs of the other into a module that both can use.
        "#]]);
    }

    #[test]
    fn tests_comments_and_texts_do_not_count() {
        check(&[
            ("a.rs", "use crate::b;\n#[cfg(test)]\nmod tests;\n"),
            (
                "b.rs",
                "/// See [`crate::a`].\nconst B: &str = \"crate::a\";\n#[cfg(test)]\nmod tests {\n    use crate::a;\n}\n",
            ),
            ("b/tests.rs", "use crate::a;\n"),
        ])
        .shows(&expect![""]);
    }

    #[test]
    fn code_for_tests_that_is_not_a_module_counts() {
        check(&[("a.rs", "#[cfg(test)]\nfn f() {}\nuse crate::b;\n"), ("b.rs", "use crate::a;\n")]).shows(&expect![[r#"
            crates/weir/src/a.rs:3: modules in a cycle: a → b → a. Move what one needs of the other into a module that both can use.
        "#]]);
    }
}
