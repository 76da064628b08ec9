//! `git blame`: the authors and their number of lines, the commits, the dates, and who last changed the definitions.

use std::io;

use crate::kinds::Kind;
use crate::kinds::fold::Fold;
use crate::kinds::shared::bounded_items::KeptItems;
use crate::kinds::shared::counts::Tally;
use crate::kinds::shared::dates::{self, Range, Stamp};
use crate::kinds::shared::definition;
use crate::sample::Sample;
use crate::text::{clip, count, number};
use crate::{Item, Page, Part, Source, Weight};

pub(crate) const KIND: Kind = Kind::whole("git blame", is, read);

/// The maximum number of lines kept of one sort.
const MAX_ITEMS: usize = 200;
const MAX_LINE_BYTES: usize = 200;

fn is(sample: &Sample<'_>) -> bool {
    sample.mostly(95, |line| parse(line).is_some())
}

struct BlameLine<'a> {
    hash: &'a str,
    path: &'a str,
    author: &'a str,
    date: &'a str,
    when: Option<Stamp>,
    text: &'a str,
}

/// Parses `^1a2b3c4d path (author 2025-01-06 13:43:00 +0000 12) text`.
fn parse(line: &str) -> Option<BlameLine<'_>> {
    let (hash, rest) = line.split_once(' ')?;
    let digits = hash.strip_prefix('^').unwrap_or(hash);
    let is_hash = digits.len() >= 6 && digits.len() <= 40 && digits.bytes().all(|byte| byte.is_ascii_hexdigit());
    if !is_hash {
        return None;
    }
    if let Some((_, text)) = numbered(rest) {
        return Some(BlameLine { hash, path: "", author: "", date: "", when: None, text });
    }
    // The text may contain brackets too, so the annotation ends at the first bracket that follows a number.
    let open = rest.find('(')?;
    let path = rest.get(..open)?.trim();
    let inner = rest.get(open + 1..)?;
    let mut from = 0;
    loop {
        let close = from + inner.get(from..)?.find(')')?;
        let head = inner.get(..close).filter(|head| head.len() <= 400)?;
        if let Some((before, last)) = head.trim_end().rsplit_once(' ')
            && let Some((_, "")) = number(last)
            && let Some((author, date)) = author_and_date(before)
        {
            let text = inner.get(close + 1..)?;
            let text = text.strip_prefix(' ').unwrap_or(text);
            return Some(BlameLine { hash, path, author, date, when: dates::parse(date), text });
        }
        from = close + 1;
    }
}

/// Parses `12) text`, which is all that remains with `-s`.
fn numbered(rest: &str) -> Option<(u64, &str)> {
    let (number, text) = number(rest.trim_start())?;
    let text = text.strip_prefix(')')?;
    Some((number, text.strip_prefix(' ').unwrap_or(text)))
}

fn author_and_date(head: &str) -> Option<(&str, &str)> {
    let mut from = 0;
    while let Some(at) = head.get(from..).and_then(|rest| rest.find(' ')) {
        let start = from + at + 1;
        let date = head.get(start..)?;
        if dates::iso(date).is_some() || is_worded(date) {
            return Some((head.get(..start)?.trim(), date.trim()));
        }
        from = start;
    }
    dates::iso(head).map(|_| ("", head.trim()))
}

/// Recognises `Mon Jan 6 13:43:00 2025 +0000`, `3 days ago`, or seconds.
fn is_worded(date: &str) -> bool {
    let day = date.get(..3).is_some_and(|day| ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"].contains(&day));
    let seconds = number(date).is_some_and(|(value, rest)| value > 100_000_000 && rest.starts_with(" +"));
    day && dates::parse(date).is_some() || seconds || number(date).is_some() && date.trim_end().ends_with(" ago")
}

#[derive(Default)]
struct Blame {
    lines: u64,
    authors: Tally,
    commits: Tally,
    paths: Tally,
    range: Range,
    newest: Option<(Stamp, String)>,
    all_newest: u64,
    open_lines: KeptItems<MAX_ITEMS>,
    definitions: Vec<(Option<Stamp>, Item)>,
    all_definitions: u64,
}

fn read(source: &dyn Source, _: &Sample<'_>) -> io::Result<Option<Page>> {
    let mut blame = Blame::default();
    let log = Fold::rest_of(source, |line| {
        parse(line.text).map(|blamed| blame.add(&blamed, line.number, line.text)).is_some()
    })?;
    Ok(log.beside(blame.lines, || blame.page()))
}

impl Blame {
    fn add(&mut self, line: &BlameLine<'_>, at: u64, whole: &str) {
        self.lines += 1;
        if !line.author.is_empty() {
            self.authors.add(line.author);
        }
        // The hash identifies the commit; a name and a day make it readable.
        let day = line.when.map_or_else(|| line.date.to_owned(), Stamp::day);
        self.commits.add(format!("{} {} {day}", line.hash, line.author).trim_end());
        if !line.path.is_empty() {
            self.paths.add(line.path);
        }
        if line.hash.trim_start_matches('^').bytes().all(|byte| byte == b'0') {
            self.open_lines.add(|| Item::at(at, clip(whole, MAX_LINE_BYTES)));
            return;
        }
        if let Some(when) = line.when {
            self.range.add(when);
            if self.newest.as_ref().is_none_or(|(newest, _)| when > *newest) {
                self.newest = Some((when, line.hash.to_owned()));
                self.all_newest = 0;
            }
            if self.newest.as_ref().is_some_and(|(newest, hash)| when == *newest && hash == line.hash) {
                self.all_newest += 1;
            }
        }
        if definition::is(line.text) {
            self.all_definitions += 1;
            if self.definitions.len() < MAX_ITEMS {
                let text = format!("{} {} {}", line.hash, line.author, clip(line.text, MAX_LINE_BYTES));
                self.definitions.push((line.when, Item::at(at, text)));
            }
        }
    }

    fn page(self) -> Page {
        let mut texts = vec![
            count(self.lines, "line", "lines"),
            format!("{} {}", self.commits.different(), if self.commits.names() == 1 { "commit" } else { "commits" }),
        ];
        texts.extend((self.authors.names() > 0).then(|| format!("{} authors", self.authors.different())));
        texts.extend(self.range.days());
        texts.extend(
            (self.open_lines.total > 0)
                .then(|| format!("{} not committed yet", count(self.open_lines.total, "line", "lines"))),
        );
        let mut page = Page::new(format!("git blame: {}", texts.join(", ")));
        let mut counts = Vec::new();
        counts.extend(self.authors.line("lines by author", 1, 12));
        if let Some((when, hash)) = &self.newest {
            counts.push(Item::plain(format!(
                "newest commit: {hash}, {}, {}",
                when.day(),
                count(self.all_newest, "line", "lines")
            )));
        }
        page.push(Part::new("counts", Weight::Fact, counts));
        page.push(self.open_lines.part("lines not committed yet", Weight::Fact));
        let mut definitions = self.definitions;
        definitions.sort_by(|a, b| b.0.cmp(&a.0).then(a.1.line.cmp(&b.1.line)));
        let definitions = definitions.into_iter().map(|(_, item)| item).collect();
        page.push(Part::new("definitions, newest first", Weight::Fact, definitions).of(self.all_definitions));
        page.push(self.commits.part("lines by commit", Weight::Shape, 60));
        if self.paths.names() > 1 {
            page.push(self.paths.part("files the lines come from", Weight::Shape, 20));
        }
        page
    }
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use crate::check::{check, digest};

    #[test]
    fn authors_commits_and_definitions() {
        let blame = "^1fcdbd2 (Ada    2025-01-06 13:43:00 +0000 1) import logging
^1fcdbd2 (Ada    2025-01-06 13:43:00 +0000 2) 
0f43483f (Ben C. 2025-04-04 13:10:00 +0000 3) def lock(db, limit=(1, 2)):
0f43483f (Ben C. 2025-04-04 13:10:00 +0000 4)     return db
00000000 (Not Committed Yet 2025-05-01 10:00:00 +0000 5)     # now
";
        check(blame, 500).shows(&expect![[r#"
            git blame: 5 lines, 3 commits, 3 authors, 2025-01-06 to 2025-04-04, 1 line not committed yet
            == counts: 2
            lines by author: Ada 2, Ben C. 2, Not Committed Yet 1
            newest commit: 0f43483f, 2025-04-04, 2 lines
            == lines not committed yet: 1
            5: 00000000 (Not Committed Yet 2025-05-01 10:00:00 +0000 5)     # now
            == definitions, newest first: 1
            3: 0f43483f Ben C. def lock(db, limit=(1, 2)):
            == lines by commit: 3
            0f43483f Ben C. 2025-04-04: 2
            ^1fcdbd2 Ada 2025-01-06: 2
            00000000 Not Committed Yet 2025-05-01: 1"#]]);
    }

    #[test]
    fn other_forms_are_read() {
        for line in [
            "1fcdbd2a src/a.rs (<ada@example.org> 2025-01-06 13:43:00 +0000 12) x",
            "1fcdbd2a (Ada Mon Jan 6 13:43:00 2025 +0000 12) x",
            "1fcdbd2a (Ada 3 days ago 12) x",
            "1fcdbd2a 12) x",
        ] {
            assert!(super::parse(line).is_some(), "{line}");
        }
        assert!(super::parse("1fcdbd2a fix the (old) thing").is_none());
        assert!(!digest("deadbeef (a) b\nfeedface (c) d\nbadcafe1 (e) f\n", 400).contains("git blame"));
    }
}
