//! `git log --oneline` and other formats with one line per commit, with or without a graph and counts.

use std::io;

use super::commits::{Commit, Commits};
use super::stat;
use crate::kinds::Kind;
use crate::kinds::fold::Fold;
use crate::kinds::shared::counts::Tally;
use crate::kinds::shared::dates::{self, Stamp};
use crate::sample::Sample;
use crate::text::clip;
use crate::{Item, Line, Page, Part, Source, Weight};

pub(crate) const KIND: Kind = Kind::whole("git log --oneline", is, read);

fn is(sample: &Sample<'_>) -> bool {
    let hashes = sample.full_lines().filter(|line| hash_line(line).is_some()).count();
    let digits = |line: &str| hash_line(line).is_some_and(|(hash, _)| hash.bytes().any(|byte| byte.is_ascii_digit()));
    hashes >= 3
        && sample.full_lines().next().is_some_and(|line| hash_line(line).is_some())
        && sample.mostly(95, |line| hash_line(line).is_some() || is_between(line))
        // A single word of seven letters may consist of hex digits, but not all of them.
        && sample.full_lines().filter(|line| digits(line)).count() * 10 >= hashes * 8
}

/// Returns the hash at the beginning of a line, possibly after a graph, and the rest.
fn hash_line(line: &str) -> Option<(&str, &str)> {
    let (text, is_drawn) = match line.as_bytes().first()? {
        b'*' | b'|' | b'/' | b'\\' => {
            let text = line.trim_start_matches(['*', '|', '/', '\\', '_', '-', '.', ' ']);
            let graph = line.get(..line.len() - text.len())?;
            (graph.contains('*').then_some(text)?, true)
        }
        _ => (line, false),
    };
    let end = text.bytes().position(|byte| !byte.is_ascii_hexdigit() || byte.is_ascii_uppercase())?;
    let (hash, rest) = text.split_at_checked(end)?;
    // Two spaces separate a column.
    let rest = rest.strip_prefix([' ', '|', '\t', ';', ',']).filter(|rest| !rest.starts_with(' '))?;
    // A hex dump also has hex digits after the first word.
    let words =
        rest.bytes().take(30).any(|byte| byte.is_ascii_alphabetic() && !byte.is_ascii_hexdigit() || byte >= 0x80);
    // The subject of a release is often just its version.
    let version = rest.split(' ').next().is_some_and(|first| first.contains('.'));
    // `git for-each-ref` and `git ls-remote` print references, not commits.
    let is_reference = rest.starts_with("refs/") || rest.contains("\trefs/");
    let is_hash = (7..=12).contains(&end) || end == 40;
    ((words || version || is_drawn) && is_hash && !is_reference).then_some((hash, rest))
}

/// Recognises lines that may occur between two commits: lines of the graph, and counts.
fn is_between(line: &str) -> bool {
    line.bytes().all(|byte| matches!(byte, b'|' | b'/' | b'\\' | b' ' | b'_' | b'-' | b'.'))
        || stat_row(line).is_some()
        || stat::totals(line).is_some()
        || line.contains('\t') && stat::touched(line).is_some()
}

fn stat_row(line: &str) -> Option<(&str, u64)> {
    stat::row(line).or_else(|| {
        let text = line.trim_start_matches(['|', ' ']);
        let start = line.len() - text.len();
        stat::row(line.get(start.checked_sub(1)?..)?)
    })
}

#[derive(Default)]
struct Oneline {
    commits: Commits,
    now: Option<Commit>,
    files: Tally,
    /// The separator of the fields, if there are fields, and the values of each.
    sign: Option<char>,
    fields: Vec<Tally<500>>,
}

fn read(source: &dyn Source, sample: &Sample<'_>) -> io::Result<Option<Page>> {
    let first = sample.full_lines().find_map(hash_line).map(|(hash, _)| hash.len());
    let sign = sample.full_lines().find(|line| hash_line(line).is_some()).and_then(|line| {
        let at = line.find(|c: char| c.is_ascii_hexdigit())? + first?;
        line.get(at..)?.chars().next().filter(|sign| *sign != ' ')
    });
    let mut found = Oneline { sign, ..Oneline::default() };
    let log = Fold::rest_of(source, |line| found.take(line))?;
    if let Some(commit) = found.now.take() {
        found.commits.add(commit);
    }
    Ok(log.beside(found.commits.count, || found.page()))
}

impl Oneline {
    fn take(&mut self, line: &Line<'_>) -> bool {
        if let Some((hash, rest)) = hash_line(line.text) {
            if let Some(commit) = self.now.take() {
                self.commits.add(commit);
            }
            self.now = Some(self.commit(line.number, hash, rest));
            return true;
        }
        let Some(commit) = &mut self.now else { return line.text.is_empty() };
        let named = stat::touched(line.text).filter(|_| line.text.contains('\t'));
        if let Some(path) = stat_row(line.text).map(|(path, _)| path).or(named) {
            self.files.add(path);
            commit.files += 1;
            return true;
        }
        let text = line.text.trim_start_matches(['|', '/', '\\', ' ']);
        if let Some(totals) = stat::totals(text) {
            (commit.added, commit.removed) = (totals.added, totals.removed);
            return true;
        }
        is_between(line.text)
    }

    fn commit(&mut self, line: u64, hash: &str, rest: &str) -> Commit {
        let mut commit = Commit { line, hash: clip(hash, 40), ..Commit::default() };
        let mut subject = rest.trim_start();
        if subject.starts_with('(')
            && let Some((refs, after)) = subject.split_once(')')
            && ["HEAD", "tag: ", "origin/", "main", "master"].iter().any(|name| refs.contains(name))
        {
            commit.refs = clip(&format!("{refs})"), 200);
            subject = after.trim_start();
        }
        commit.when = day_in(subject);
        if let Some(sign) = self.sign {
            for (place, field) in subject.split(sign).take(6).enumerate() {
                if self.fields.len() <= place {
                    self.fields.push(Tally::default());
                }
                if let Some(tally) = self.fields.get_mut(place) {
                    tally.add(field.trim());
                }
            }
        }
        commit.subject = clip(subject, 300);
        commit
    }

    fn page(self) -> Page {
        let Self { commits, files, fields, .. } = self;
        let count = commits.count;
        let mut page = Page::new(commits.what("git log, one line each"));
        page.parts = commits.parts();
        // Fields with few values are authors, states and the like.
        let few =
            fields.iter().filter(|field| field.beyond == 0 && field.names() > 1 && field.names() as u64 * 3 < count);
        let few: Vec<Item> = few.map(|field| Item::plain(field.in_line(15))).collect();
        page.push(Part::new("values of fields", Weight::Fact, few));
        if files.names() > 0 {
            page.push(files.part("files by how many commits touch them", Weight::Shape, 60));
        }
        page
    }
}

/// Returns the first date in a line, if the format has one.
fn day_in(text: &str) -> Option<Stamp> {
    let text = text.get(..text.floor_char_boundary(120)).unwrap_or(text);
    let starts = text.match_indices('-').take(6).filter_map(|(at, _)| at.checked_sub(4));
    starts.filter_map(|at| text.get(at..)).find_map(dates::iso)
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use crate::check::{check, digest};

    #[test]
    fn a_count_of_the_first_commits_says_so() {
        let subject = |number: u32| if number % 100 == 7 { "release 1.2.3" } else { "fix: a thing" };
        let raw: String =
            (0..3_200).map(|number| format!("{:07x} {}\n", 0x0100_0000 + number, subject(number))).collect();
        let told = digest(&raw, 800);
        assert!(told.contains("git log, one line each: 3200 commits"), "{told}");
        assert!(told.contains("== releases and tags of the first 3000 commits: 30"), "{told}");
    }

    #[test]
    fn a_graph_with_names_is_read() {
        let log = "* 1a2b3c4 (HEAD -> main, tag: v2.0.0) release: 2.0.0
*   2b3c4d5 Merge branch 'topic'
|\\  
| * 3c4d5e6 fix(store): close the file
|/  
* 4d5e6f7 store: open the file
* 5e6f7a8 Revert \"store: lock\"
* 6f7a8b9 Import
";
        check(log, 400).shows(&expect![[r#"
            git log, one line each: 6 commits, 1 called "Merge …"
            == first and last commit of the output: 2
            1: 1a2b3c4 (HEAD -> main, tag: v2.0.0) release: 2.0.0
            8: 6f7a8b9 Import
            == counts: 1
            by the text before the colon: fix 1, release 1, store 1
            == reverts, fixups and breaking changes: 1
            7: 5e6f7a8 Revert "store: lock"
            == other commits: 3
            2b3c4d5 Merge branch 'topic'
            3c4d5e6 fix(store): close the file
            4d5e6f7 store: open the file"#]]);
    }

    #[test]
    fn fields_are_counted() {
        let log = "1a2b3c4|2025-03-02|Ada|one\n2b3c4d5|2025-02-02|Ada|two\n3c4d5e6|2025-02-01|Ben|three\n4d5e6f7|2025-01-02|Ada|four\n5e6f7a8|2025-01-01|Ada|five\n6f7a8b9|2025-01-01|Ben|six\n7f7a8b9|2025-01-01|Ben|six\n";
        let text = digest(log, 400);
        assert!(text.contains("7 commits, 2025-01-01 to 2025-03-02") && text.contains("Ada 4, Ben 3"), "{text}");
    }

    #[test]
    fn dumps_and_words_are_not_commits() {
        let dump = "00000000: 4500 003c 1c46 4000  E..<.F@.\n00000010: 4006 b1e6 ac10 0a63  @......c\n00000020: ac10 0a0c 0050 0000  .....P..\n";
        let spaced = dump.replace(": ", "  ");
        let docker = "CONTAINER ID   IMAGE\n867555fcb1aa   nginx\n967555fcb1ab   redis\na67555fcb1ac   redis\n";
        for text in [dump, &spaced, docker, "effaced it\ndefaced it\nacceded to\n"] {
            assert!(!digest(text, 400).contains("git log"), "{text}");
        }
    }
}
