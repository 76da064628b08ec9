//! Matches of `grep -n`, `rg` and `git grep`, with and without file headings and context: their number, their files,
//! and the rarest of them.

mod lines;

use std::collections::HashMap;
use std::io;

use weir_core::wording::counted;

use self::lines::{Hit, counted_hit, is_binary, is_path, is_said, numbered_hit, plain_hit, short_hit, without_column};
use crate::kinds::Kind;
use crate::kinds::fold::Fold;
use crate::kinds::shared::bounded_items::KeptItems;
use crate::kinds::shared::counts::{Tally, extension, folder, template};
use crate::kinds::shared::definition;
use crate::sample::Sample;
use crate::text::clip;
use crate::{Item, Line, Page, Part, Source, Weight};

pub(crate) const KIND: Kind = Kind::whole("grep", |sample| form(sample).is_some(), read);

const MAX_FILES: usize = 20_000;
/// The maximum number of matches kept of each top folder and extension, of each file, and in all.
const MAX_MATCHES_PER_SORT: u64 = 15;
const MAX_MATCHES_PER_FILE: u64 = 2;
const MAX_MATCHES: usize = 500;
const MAX_LINE_BYTES: usize = 240;

#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
enum MatchFormat {
    /// `path:12:text`, `path:12:5:text` or `path-12-text` for context.
    #[default]
    Numbered,
    /// `path:text`, without a number.
    Plain,
    /// `path` alone, then `12:text`.
    Headed,
    /// `12:text`, of a single file.
    Single,
    /// `path:12`, the number of matches in each file.
    Counted,
}

fn form(sample: &Sample<'_>) -> Option<MatchFormat> {
    let [mut all, mut numbered, mut plain, mut counted, mut said] = [0_usize; 5];
    for line in sample.full_lines().filter(|line| *line != "--" && !is_binary(line)) {
        all += 1;
        if let Some(hit) = numbered_hit(line) {
            numbered += 1;
            // A compiler puts a space before its message.
            said += usize::from(is_said(hit.text));
        } else if counted_hit(line).is_some() {
            counted += 1;
        } else if plain_hit(line).is_some() {
            plain += 1;
        }
    }
    if all < 5 || said * 4 > all {
        return None;
    }
    if numbered * 100 >= all * 90 {
        return Some(MatchFormat::Numbered);
    }
    if counted * 100 >= all * 95 {
        return Some(MatchFormat::Counted);
    }
    if headed(sample) {
        return Some(MatchFormat::Headed);
    }
    if single(sample) {
        return Some(MatchFormat::Single);
    }
    ((plain + numbered) * 100 >= all * 97 && paths_repeat(sample)).then_some(MatchFormat::Plain)
}

/// Returns whether files are on separate lines, with numbered lines below them.
fn headed(sample: &Sample<'_>) -> bool {
    let (mut heads, mut hits, mut others) = (0_usize, 0_usize, 0_usize);
    let mut after_blank = true;
    for line in sample.lines() {
        if line.is_empty() {
            after_blank = true;
            continue;
        }
        if after_blank && is_path(line) && !line.contains(':') {
            heads += 1;
        } else if short_hit(line).is_some() || line == "--" {
            hits += 1;
        } else {
            others += 1;
        }
        after_blank = false;
    }
    heads >= 2 && hits >= heads && others * 20 <= hits
}

/// Returns whether these are numbered lines of one file: the numbers only increase.
fn single(sample: &Sample<'_>) -> bool {
    let mut before = 0;
    let mut count = 0;
    for line in sample.full_lines().filter(|line| *line != "--") {
        let Some((number, true, text)) = short_hit(line) else {
            if short_hit(line).is_some() {
                continue;
            }
            return false;
        };
        // Times of a log have more numbers after the first.
        let time = text.as_bytes().get(2) == Some(&b':') && text.get(..2).and_then(crate::text::number).is_some();
        if number <= before || time {
            return false;
        }
        before = number;
        count += 1;
    }
    count >= 5 && before > count
}

/// Returns whether paths repeat, as they do for files with several matches.
fn paths_repeat(sample: &Sample<'_>) -> bool {
    let mut before = "";
    let (mut same, mut all) = (0, 0);
    for line in sample.full_lines() {
        let Some(hit) = plain_hit(line) else { continue };
        all += 1;
        same += usize::from(hit.path == before);
        before = hit.path;
    }
    same * 5 >= all
}

#[derive(Default)]
struct Matches {
    form: MatchFormat,
    /// The file of the following lines, if it is named above them.
    now: String,
    hits: u64,
    context: u64,
    files: HashMap<Box<str>, u64>,
    /// The number of matches in files beyond the limit, and of files without a match.
    beyond: u64,
    without: u64,
    tops: [Tally<1_000>; 4],
    extensions: Tally,
    likes: Tally,
    marks: Tally,
    kept: Vec<KeptMatch>,
    of_sort: Tally,
    definitions: u64,
    said: KeptItems<20>,
}

/// A match that may be shown.
struct KeptMatch {
    item: Item,
    sort: String,
    file: String,
    like: String,
    defines: bool,
}

fn read(source: &dyn Source, sample: &Sample<'_>) -> io::Result<Option<Page>> {
    let Some(form) = form(sample) else { return Ok(None) };
    let mut matches = Matches { form, ..Matches::default() };
    let mut after_blank = true;
    let log =
        Fold::rest_of(source, |line| matches.take(line, std::mem::replace(&mut after_blank, line.text.is_empty())))?;
    Ok(log.beside(matches.hits + matches.context + matches.without, || matches.page()))
}

impl Matches {
    fn take(&mut self, line: &Line<'_>, after_blank: bool) -> bool {
        let text = line.text;
        if text.is_empty() || text == "--" {
            return true;
        }
        if is_binary(text) {
            self.said.add(|| Item::at(line.number, clip(text, MAX_LINE_BYTES)));
            return true;
        }
        match self.form {
            MatchFormat::Numbered | MatchFormat::Plain => {
                let hit = if self.form == MatchFormat::Numbered { numbered_hit(text) } else { plain_hit(text) };
                let Some(hit) = hit else { return false };
                self.hit(line, &hit);
            }
            MatchFormat::Counted => match counted_hit(text) {
                Some((_, 0)) => self.without += 1,
                Some((path, count)) => self.file(path, count),
                None => return false,
            },
            MatchFormat::Headed | MatchFormat::Single => {
                if self.form == MatchFormat::Headed && after_blank && is_path(text) && !text.contains(':') {
                    self.now = clip(text, MAX_LINE_BYTES);
                    return true;
                }
                let Some((number, matched, text)) = short_hit(text) else { return false };
                let path = std::mem::take(&mut self.now);
                let text = if matched { without_column(text) } else { text };
                self.hit(line, &Hit { path: &path, number: Some(number), text, context: !matched });
                self.now = path;
            }
        }
        true
    }

    fn file(&mut self, path: &str, count: u64) {
        self.hits = self.hits.saturating_add(count);
        if let Some(known) = self.files.get_mut(path) {
            *known = known.saturating_add(count);
        } else if self.files.len() < MAX_FILES {
            self.files.insert(path.into(), count);
        } else {
            self.beyond += 1;
        }
        for (depth, top) in self.tops.iter_mut().enumerate() {
            top.add_times(folder(path, depth + 1), count);
        }
        self.extensions.add_times(extension(path).unwrap_or("none"), count);
    }

    fn hit(&mut self, line: &Line<'_>, hit: &Hit<'_>) {
        if hit.context {
            self.context += 1;
            return;
        }
        self.file(hit.path, 1);
        let content = bare(hit.text);
        let like = template(content.get(..content.floor_char_boundary(MAX_LINE_BYTES)).unwrap_or(content));
        self.likes.add(&like);
        count_marks(&mut self.marks, content);
        let item = || {
            let text = match self.form {
                MatchFormat::Headed => format!("{}:{}:{}", hit.path, hit.number.unwrap_or(0), hit.text),
                _ => line.text.to_owned(),
            };
            Item::plain(clip(&text, MAX_LINE_BYTES))
        };
        let defines = definition::is(hit.text);
        self.definitions += u64::from(defines);
        let sort = format!("{} {}", folder(hit.path, 1), extension(hit.path).unwrap_or_default());
        self.of_sort.add(&sort);
        let first = self.files.get(hit.path).is_some_and(|&count| count <= MAX_MATCHES_PER_FILE)
            || self.form == MatchFormat::Single;
        let few = self.of_sort.get(&sort) <= MAX_MATCHES_PER_SORT;
        if self.kept.len() < MAX_MATCHES && (first || few) || defines && self.kept.len() < MAX_MATCHES * 2 {
            let item = item();
            self.kept.push(KeptMatch { item, sort, file: clip(hit.path, MAX_LINE_BYTES), like, defines });
        }
    }

    fn page(self) -> Page {
        let (more, files) = (if self.beyond > 0 { "more than " } else { "" }, self.files.len());
        let mut what = format!("grep: {}", counted(self.hits as usize, "matching line", "matching lines"));
        if self.form != MatchFormat::Single {
            what.push_str(&format!(" in {more}{}", counted(files, "file", "files")));
        }
        if self.without > 0 {
            what.push_str(&format!(", none in {}", counted(self.without as usize, "other file", "other files")));
        }
        if self.context > 0 {
            what.push_str(&format!(", {} of context", counted(self.context as usize, "line", "lines")));
        }
        let mut page = Page::new(what);
        let mut sorted: Vec<(&str, u64)> = self.files.iter().map(|(path, &count)| (path.as_ref(), count)).collect();
        sorted.sort_by(|a, b| b.1.cmp(&a.1).then(a.0.cmp(b.0)));
        let mut counts = Vec::new();
        counts.extend(self.tops.iter().find_map(|top| top.line("by folder", 2, 14)));
        counts.extend(self.extensions.line("by extension", 2, 12));
        counts.extend(self.marks.line("marks", 1, 16));
        page.push(Part::new("counts", Weight::Fact, counts));
        page.push(self.said.part("said by the program", Weight::Fact));
        if self.form != MatchFormat::Single {
            let listed = sorted.iter().take(30).map(|(path, count)| Item::plain(format!("{path}: {count}"))).collect();
            page.push(Part::new("files with matches, most first", Weight::Shape, listed).of(files as u64));
        }
        let again = self.likes.sorted();
        let again = again.iter().filter(|(_, count)| *count > 1);
        let likes: Vec<Item> =
            again.clone().take(25).map(|(text, count)| Item::plain(format!("{text} ×{count}"))).collect();
        page.push(Part::new("repeated lines, digits as #", Weight::Fact, likes).of(again.count() as u64));
        if self.form == MatchFormat::Counted {
            return page;
        }
        // If few lines are definitions, those are what was searched for.
        let apart = self.definitions > 0 && self.definitions * 4 <= self.hits;
        let (definitions, others) = self.kept.into_iter().partition(|hit| apart && hit.defines);
        let count = if apart { self.definitions } else { 0 };
        page.push(Part::new("definitions", Weight::Fact, rarest(definitions, &self.of_sort, &self.likes)).of(count));
        let others = rarest(others, &self.of_sort, &self.likes);
        page.push(Part::new("matches, the rarest places first", Weight::Fact, others).of(self.hits - count));
        page
    }
}

/// Orders matches by how rare their sort is; among equals, one of each file and of each form comes before a second.
fn rarest(kept: Vec<KeptMatch>, of_sort: &Tally, likes: &Tally) -> Vec<Item> {
    let mut files: HashMap<&str, u32> = HashMap::new();
    let mut forms: HashMap<&str, u32> = HashMap::new();
    let mut ranked: Vec<(u32, u64, u64, usize)> = Vec::with_capacity(kept.len());
    for (place, hit) in kept.iter().enumerate() {
        let file = files.entry(&hit.file).or_default();
        let form = forms.entry(&hit.like).or_default();
        let sort = of_sort.get(&hit.sort);
        // All matches of a rare sort come first, then the first of each file and form.
        let turn = if sort <= MAX_MATCHES_PER_SORT { 0 } else { (*file).max(*form) + 1 };
        ranked.push((turn, sort, likes.get(&hit.like), place));
        *file += 1;
        *form += 1;
    }
    ranked.sort_unstable();
    let mut items: Vec<Option<Item>> = kept.into_iter().map(|hit| Some(hit.item)).collect();
    ranked.iter().filter_map(|(.., place)| items.get_mut(*place)?.take()).collect()
}

/// Returns a line without comment signs.
fn bare(text: &str) -> &str {
    let text = text.trim();
    let inner = text.trim_start_matches(['#', '/', '*', ';', '-', '<', '!']).trim_start();
    if inner.is_empty() || text.starts_with("#[") || text.starts_with("#!") { text } else { inner }
}

/// Counts the words that mark open tasks, and their owners.
fn count_marks(marks: &mut Tally, text: &str) {
    for word in ["TODO", "FIXME", "HACK", "XXX", "BUG", "NOTE", "SAFETY", "DEPRECATED"] {
        let Some(at) = text.find(word) else { continue };
        let around = |letter: Option<char>| letter.is_none_or(|letter| !letter.is_alphanumeric() && letter != '_');
        let rest = text.get(at + word.len()..).unwrap_or_default();
        if !around(text.get(..at).and_then(|before| before.chars().next_back())) || !around(rest.chars().next()) {
            continue;
        }
        marks.add(word);
        let whom = rest.strip_prefix('(').and_then(|rest| rest.split_once(')')).map(|(whom, _)| whom);
        if let Some(whom) = whom.filter(|whom| !whom.is_empty() && whom.len() <= 30) {
            marks.add(&format!("{word}({whom})"));
        }
    }
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use crate::check::{check, digest};

    #[test]
    fn matches_with_context() {
        let found = "src/a.rs-1-use x;
src/a.rs:2:fn timeout() -> u8 {
src/a.rs-3-    5
--
src/a.rs:9:    let t = timeout();
src/b-2.rs:7:    let t = timeout();
conf/x.yaml:1:timeout: 30
src/c.rs:3:    // TODO(ada): a timeout
src/c.rs:4:    // TODO: no timeout
";
        check(found, 600).shows(&expect![[r#"
            grep: 6 matching lines in 4 files, 2 lines of context
            == counts: 3
            by folder: src 5, conf 1
            by extension: rs 5, yaml 1
            marks: TODO 2, TODO(ada) 1
            == files with matches, most first: 4
            src/a.rs: 2
            src/c.rs: 2
            conf/x.yaml: 1
            src/b-2.rs: 1
            == repeated lines, digits as #: 1
            let t = timeout(); ×2
            == definitions: 1
            src/a.rs:2:fn timeout() -> u8 {
            == matches, the rarest places first: 5
            conf/x.yaml:1:timeout: 30
            src/c.rs:3:    // TODO(ada): a timeout
            src/c.rs:4:    // TODO: no timeout
            src/a.rs:9:    let t = timeout();
            src/b-2.rs:7:    let t = timeout();"#]]);
    }

    #[test]
    fn files_above_their_matches() {
        let found = "src/a.rs\n2:fn timeout() {\n9:    timeout();\n\nsrc/b.rs\n7:    timeout();\n8-    x\n";
        check(found, 400).shows(&expect![[r#"
            grep: 3 matching lines in 2 files, 1 line of context
            == files with matches, most first: 2
            src/a.rs: 2
            src/b.rs: 1
            == repeated lines, digits as #: 1
            timeout(); ×2
            == matches, the rarest places first: 3
            src/a.rs:2:fn timeout() {
            src/a.rs:9:    timeout();
            src/b.rs:7:    timeout();"#]]);
    }

    #[test]
    fn other_forms_are_read() {
        let counted = "a/b.rs:3\na/c.rs:0\na/d.rs:12\na/e.rs:1\na/f.rs:1\n";
        assert!(digest(counted, 400).contains("17 matching lines in 4 files, none in 1 other file; "));
        let single = "3:fn a\n17:fn b\n19:fn c\n40:fn d\n51:fn e\n";
        assert!(digest(single, 400).contains("5 matching lines"));
        let plain = "a/b.rs:fn a\na/b.rs:fn b\na/b.rs:fn c\na/c.rs:fn d\na/c.rs:fn e\n";
        assert!(digest(plain, 400).contains("5 matching lines in 2 files"));
        let column = "a/b.rs:3:9:fn a\na/b.rs:4:9:fn b\na/b.rs:5:1:fn c\nC:\\x\\y.rs:7:1:fn d\na/c.rs:1:1:fn e\n";
        assert!(digest(column, 400).contains("5 matching lines in 3 files"));
    }

    #[test]
    fn diagnostics_and_logs_are_not_matches() {
        for text in [
            "a.c:1:2: error: x\na.c:2:2: warning: y\na.c:3:1: note: z\na.c:4:2: error: x\na.c:5:2: error: x\n",
            "a.py:1: error: x\na.py:2: error: y\na.py:3: note: z\na.py:4: error: x\na.py:5: error: x\n",
            "a.py:1:1: F401 x\na.py:2:1: E501 y\na.py:3:1: E501 z\na.py:4:1: E501 x\na.py:5:1: E501 x\n",
            "12:30:01 a\n12:30:02 b\n12:30:03 c\n12:30:04 d\n12:30:05 e\n",
            "INFO:root:a\nINFO:root:b\nINFO:root:c\nWARN:root:d\nINFO:root:e\n",
            "key: 1\nother: 2\nmore: 3\nand: 4\nso: 5\n",
        ] {
            assert!(!digest(text, 400).contains("grep: "), "{text}");
        }
    }
}
