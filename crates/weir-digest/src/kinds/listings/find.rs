//! Paths, one per line: `find`, `fd`, `git ls-files`, `du`, `wc` and the like, with or without fields before the path.

use std::io;

use super::folders::Folders;
use crate::kinds::Kind;
use crate::kinds::data::cells::Cells;
use crate::kinds::fold::Fold;
use crate::kinds::shared::counts::{EvenSample, LargestN, Tally, extension, folder};
use crate::sample::Sample;
use crate::text::{clip, count};
use crate::{Item, Page, Part, Source, Weight};

pub(crate) const KIND: Kind = Kind::whole("find", |sample| fields_of(sample).is_some(), read);

/// The maximum number of fields before the path.
const MAX_FIELDS: usize = 6;
const MAX_BIGGEST: usize = 30;
/// What paths without an extension are counted as.
const NO_EXTENSION: &str = "none";
/// The depth to which folders are counted together with their contents.
const MAX_COUNTED_DEPTH: usize = 5;

/// Returns how many fields precede the path in nearly every line.
fn fields_of(sample: &Sample<'_>) -> Option<usize> {
    let mut counts = [0_usize; MAX_FIELDS + 1];
    let (mut all, mut like_words, mut like_code) = (0, 0, 0);
    for line in sample.full_lines() {
        all += 1;
        if let Some((fields, path)) = parse(line)
            && let Some(count) = counts.get_mut(fields)
        {
            *count += 1;
            like_words += usize::from(!path.contains('/'));
            // Base64 contains slashes too, but no names.
            like_code += usize::from(!is_rooted(path) && extension(path).is_none());
        }
    }
    let (fields, most) = counts.iter().enumerate().max_by_key(|(place, count)| (**count, MAX_FIELDS - place))?;
    // Names without a folder may be plain words, so some must have one.
    (all >= 5 && most * 100 >= all * 95 && like_words * 2 <= all && like_code * 5 <= all * 2).then_some(fields)
}

/// Returns how many fields a line has before its path, and the path.
fn parse(line: &str) -> Option<(usize, &str)> {
    if line.len() > 1_000 {
        return None;
    }
    // Only the path follows a tab, as printed by `du`.
    if let Some((size, path)) = line.split_once('\t')
        && !path.is_empty()
        && !path.contains(['\t', '|', '"'])
        && is_field(size)
        && super::ls::bytes_of(size).is_some()
    {
        return Some((1, path));
    }
    let mut rest = line.trim_start();
    for fields in 0..=MAX_FIELDS {
        if is_path(rest, fields) {
            return Some((fields, rest));
        }
        let (word, after) = rest.split_once([' ', '\t'])?;
        if !is_field(word) {
            return None;
        }
        rest = after.trim_start();
    }
    None
}

/// Returns the one word after this many fields. There, any name is one of a file.
fn name_after(line: &str, fields: usize) -> Option<&str> {
    let mut words = line.split_whitespace();
    let all_fields = words.by_ref().take(fields).filter(|word| is_field(word)).count() == fields;
    let name = words.next().filter(|name| all_fields && words.next().is_none() && is_path(name, 0))?;
    line.get(line.rfind(name)?..)
}

/// Returns whether a field is the mode of an entry, as git prints it.
fn is_mode(word: &str) -> bool {
    word.len() == 6 && ["100", "120", "160", "040"].iter().any(|kind| word.starts_with(kind))
}

/// Recognises a size, a date, a mode, a hash or a word before a path.
fn is_field(word: &str) -> bool {
    word.len() <= 128
        && word.bytes().any(|byte| byte.is_ascii_digit())
        && word.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-:.+,_%".contains(&byte))
        || word.len() <= 2 && word.bytes().all(|byte| byte.is_ascii_alphabetic())
        || word.len() == 10 && word.bytes().all(|byte| b"-drwxlsStTbcp".contains(&byte))
}

fn is_rooted(path: &str) -> bool {
    path.starts_with("./") || path.starts_with("../") || path.starts_with('/') || path.starts_with("~/")
}

fn is_path(text: &str, fields: usize) -> bool {
    let text = text.strip_suffix('/').unwrap_or(text);
    let rooted = is_rooted(text);
    let drive = text.as_bytes().get(1) == Some(&b':') && text.as_bytes().get(2) == Some(&b'\\');
    let plain = |letter: char| !letter.is_control() && !matches!(letter, '|' | '<' | '>' | '"' | ';' | '{' | '}' | '=');
    if text.is_empty()
        || !text.chars().all(plain)
        || text.contains("://")
        || text.contains(": ")
        || text.ends_with([',', ':', '.']) && text.len() > 2
    {
        return false;
    }
    if rooted || drive {
        return !text.contains("  ");
    }
    if text == "." || text == ".." {
        return true;
    }
    let spaces = text.contains(char::is_whitespace);
    let below = text.contains('/');
    let named = extension(text).is_some()
        || text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_-.+@".contains(&byte)) && fields == 0;
    !spaces
        && (below || named)
        && text.starts_with(|c: char| c.is_alphanumeric() || matches!(c, '.' | '_' | '@' | '-' | '['))
}

#[derive(Default)]
struct PathSummary {
    paths: u64,
    folders: Folders,
    /// The folder of the previous line, since most lines are in the same one.
    last_folder: String,
    tops: [Tally<1_000>; MAX_COUNTED_DEPTH],
    extensions: Tally,
    names: Tally,
    deepest: (usize, Option<Item>),
    spread: EvenSample<64>,
    fields: usize,
    cells: Option<Cells>,
    /// The largest, by the first numeric field.
    biggest: LargestN<u64, MAX_BIGGEST>,
}

fn read(source: &dyn Source, sample: &Sample<'_>) -> io::Result<Option<Page>> {
    let Some(fields) = fields_of(sample) else { return Ok(None) };
    let names_of_fields: Vec<String> = (1..=fields).map(|place| format!("field {place}")).collect();
    let columns = names_of_fields.iter().map(String::as_str).chain(["path"]);
    let cells = (fields > 1).then(|| Cells::of(columns));
    let mut found = PathSummary { fields, cells, ..PathSummary::default() };
    let log = Fold::rest_of(source, |line| {
        let path = parse(line.text).filter(|(count, _)| *count == fields);
        let path = path.map(|(_, path)| path).or_else(|| name_after(line.text, fields));
        path.map(|path| found.add(line.number, line.text, path)).is_some() || line.text.is_empty()
    })?;
    Ok(log.beside(found.paths, || found.page()))
}

impl PathSummary {
    fn add(&mut self, number: u64, line: &str, path: &str) {
        self.paths += 1;
        let inner = path.trim_start_matches("./");
        for (depth, top) in self.tops.iter_mut().enumerate() {
            top.add(folder(path, depth + 1));
        }
        let inside = folder(path, 64);
        if inside != self.last_folder || self.paths == 1 {
            inside.clone_into(&mut self.last_folder);
            self.folders.begin(inside);
        }
        self.folders.add(0);
        self.extensions.add(extension(path).unwrap_or(NO_EXTENSION));
        self.names.add(inner.rsplit('/').next().unwrap_or(inner));
        let depth = inner.bytes().filter(|&byte| byte == b'/').count();
        if self.deepest.1.is_none() || depth > self.deepest.0 {
            self.deepest = (depth, Some(Item::at(number, clip(path, 300))));
        }
        self.spread.offer(|| Item::plain(clip(line, 300)));
        let is_size = |word: &&str| !word.contains('-') && !word.contains(':');
        let size = line.split_whitespace().take(self.fields).find(is_size).filter(|word| !is_mode(word));
        if let Some(bytes) = size.and_then(super::ls::bytes_of) {
            self.biggest.offer(bytes, || clip(line.trim(), 300));
        }
        if let Some(cells) = &mut self.cells {
            cells.add(line.split_whitespace().take(self.fields).chain([path]), number, line);
        }
    }

    fn page(self) -> Page {
        let without = usize::from(self.extensions.get(NO_EXTENSION) > 0);
        let extensions = count((self.extensions.names() - without) as u64, "extension", "extensions");
        let folders = self.folders.different();
        let mut page =
            Page::new(format!("paths: {} in {folders}, {extensions}", count(self.paths, "entry", "entries")));
        let mut counts = vec![Item::plain(format!("by extension: {}", self.extensions.in_line(15)))];
        // A folder that all paths share is not informative.
        let top = self.tops.iter().find(|top| top.names() > 1 || top.beyond > 0);
        if let Some(top) = top {
            counts.push(Item::plain(format!("by top folder: {}", top.in_line(14))));
        }
        let again = self.names.sorted().first().is_some_and(|(_, count)| *count > 2);
        counts.extend(again.then(|| Item::plain(format!("most frequent names: {}", self.names.in_line(6)))));
        page.push(Part::new("counts", Weight::Fact, counts));
        if let Some(cells) = self.cells {
            cells.parts(&mut page);
        }
        let biggest = self.biggest.into_items();
        let sized = self.fields == 1 && !biggest.is_empty();
        // If other fields describe the paths, a few of the largest are enough.
        let most = if sized { MAX_BIGGEST } else { MAX_BIGGEST / 5 };
        let biggest: Vec<Item> = biggest.into_iter().take(most).collect();
        if !biggest.is_empty() {
            page.push(Part::new("biggest", Weight::Fact, biggest).of(self.paths));
        }
        page.push(self.folders.part(false));
        page.push(Part::new("deepest path", Weight::Shape, self.deepest.1.into_iter().collect()));
        if !sized {
            let spread = self.spread.into_items();
            page.push(Part::new("some of the lines, evenly spread", Weight::Sample, spread).of(self.paths));
        }
        page
    }
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use crate::check::{check, digest};

    #[test]
    fn paths_with_fields_before_them() {
        let found = "98 2024-09-29 644 ./config/a.yaml
97 2024-10-19 644 ./config/b.yaml
412 2025-03-06 644 ./config/sub dir/c.yaml
0 2024-10-19 644 ./log/error.log
29143 2024-10-19 644 ./log/1/a.gz
29144 2024-10-20 644 ./log/2/b.gz
";
        check(found, 500).shows(&expect![[r#"
            paths: 6 entries in 5 folders, 3 extensions
            == counts: 2
            by extension: yaml 3, gz 2, log 1
            by top folder: ./config 3, ./log 3
            == fields of 6 records: 4
            field 1: 0 (./log/error.log) to 29144 (./log/2/b.gz)
            field 2: 2024-09-29 to 2025-03-06, 4 different
            path: all different, such as ./config/a.yaml, ./config/b.yaml
            the same in all: field 3=644
            == records: 6, 4 shown
            1: 98 2024-09-29 644 ./config/a.yaml
            2: 97 2024-10-19 644 ./config/b.yaml
            3: 412 2025-03-06 644 ./config/sub dir/c.yaml
            4: 0 2024-10-19 644 ./log/error.log
            == biggest: 6
            29144 2024-10-20 644 ./log/2/b.gz
            29143 2024-10-19 644 ./log/1/a.gz
            412 2025-03-06 644 ./config/sub dir/c.yaml
            98 2024-09-29 644 ./config/a.yaml
            97 2024-10-19 644 ./config/b.yaml
            0 2024-10-19 644 ./log/error.log
            == folders, digits of like ones as #: 4
            ./config: 2 entries
            ./log/#: 2 entries in 2 folders
            ./config/sub dir: 1 entry
            ./log: 1 entry
            == deepest path: 1
            3: ./config/sub dir/c.yaml
            == some of the lines, evenly spread: 6, 3 shown
            98 2024-09-29 644 ./config/a.yaml
            97 2024-10-19 644 ./config/b.yaml
            412 2025-03-06 644 ./config/sub dir/c.yaml"#]]);
    }

    #[test]
    fn sizes_are_told_by_the_biggest() {
        let raw: String =
            (0..90).map(|n| format!("{}\t./node_modules/@scope{}/package-{n}/dist\n", 9_000 - n * 7, n % 7)).collect();
        let told = digest(&raw, 800);
        // Paths without an extension are not counted as having one.
        assert!(told.contains(" folders, 0 extensions; "), "{told}");
        assert!(
            told.contains("8986\t./node_modules/@scope2/package-2/dist") && !told.contains("evenly spread"),
            "{told}"
        );
    }

    #[test]
    fn other_lines_are_not_paths() {
        for text in [
            "one\ntwo\nthree\nfour\nfive\n",
            "iVBORw0KGgo/AAAANSUhEUgAA\nAAUAAAAFCAYAAACNbybl/AAA\nHElEQVQI12P4//8/w38GIA\nXDIBKE0DHxgljNBAAO\n9TXL0Y4OHwAAAABJRU5E/rkJggg\n",
            "see a/b.rs for it\nand c/d.rs too\nor e.rs\nor f.rs\nor g.rs\n",
            "https://a.b/c\nhttps://a.b/d\nhttps://a.b/e\nhttps://a.b/f\nhttps://a.b/g\n",
        ] {
            assert!(!digest(text, 400).contains("paths: "), "{text}");
        }
    }
}
