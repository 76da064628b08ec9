//! Reads `ls`, long or of many folders. `listing` describes the entries.

use std::io;

use super::listing::Listing;
use crate::kinds::Kind;
use crate::kinds::fold::Fold;
use crate::kinds::shared::dates::{self, Stamp};
use crate::sample::Sample;
use crate::text::number;
use crate::{Page, Source};

pub(crate) const KIND: Kind = Kind::whole("ls", is, read);

fn is(sample: &Sample<'_>) -> bool {
    let long = |line: &str| mode(line).is_some() || is_total(line) || is_folder(line);
    let rows = sample.full_lines().filter(|line| mode(line).is_some()).count();
    rows >= 3 && sample.mostly(90, long) || is_short_recursive(sample)
}

/// Returns whether these are folders with names below them, as printed by `ls -R`.
fn is_short_recursive(sample: &Sample<'_>) -> bool {
    let mut after_blank = true;
    let (mut folders, mut others, mut blanks) = (0, 0, 0);
    for line in sample.lines() {
        if line.is_empty() {
            blanks += 1;
            after_blank = true;
            continue;
        }
        let folder = after_blank && is_folder(line);
        // An empty line that no folder name follows belongs to some other text.
        if after_blank && !folder {
            return false;
        }
        folders += u32::from(folder);
        others += u32::from(!folder);
        after_blank = false;
    }
    folders >= 3 && blanks >= 2 && others > 0
}

fn is_total(line: &str) -> bool {
    line.strip_prefix("total ").is_some_and(|total| total.starts_with(|c: char| c.is_ascii_digit()) && total.len() < 20)
}

/// Recognises `./path:`, before the entries of a folder.
fn is_folder(line: &str) -> bool {
    let Some(path) = line.strip_suffix(':') else { return false };
    // A name with spaces is a folder if it is below another.
    let rooted = path.starts_with('/') || path.starts_with('.') || path.contains('/') && !path.contains(": ");
    !path.is_empty() && (rooted || !path.contains(char::is_whitespace) && !path.contains(':')) && mode(line).is_none()
}

/// Returns an entry without the inode and the blocks that `ls -lis` and `find -ls` print before it.
fn entry(line: &str) -> &str {
    let mut text = line;
    for _ in 0..2 {
        let inner = text.trim_start_matches(' ');
        match number(inner) {
            Some((_, rest)) if rest.starts_with(' ') => text = rest,
            _ => break,
        }
    }
    text.trim_start_matches(' ')
}

/// Returns the ten letters at the beginning of an entry.
fn mode(line: &str) -> Option<&str> {
    let line = if line.starts_with(|c: char| c == ' ' || c.is_ascii_digit()) { entry(line) } else { line };
    let mode = line.get(..10)?;
    let mut bytes = mode.bytes();
    let sort = bytes.next()?;
    let fits = b"-dlbcpsDC".contains(&sort) && bytes.all(|byte| b"rwxsStT-?".contains(&byte));
    let after = line.as_bytes().get(10)?;
    (fits && matches!(after, b' ' | b'+' | b'.' | b'@')).then_some(mode)
}

pub(super) struct Entry<'a> {
    /// The ten letters of its type and its permissions.
    pub(super) mode: &'a str,
    /// The names between the links and the size.
    pub(super) owner: &'a str,
    /// Its size; `None` for devices.
    pub(super) bytes: Option<u64>,
    /// Its size, as printed.
    pub(super) sized: &'a str,
    /// Its modification time, as printed.
    pub(super) date: &'a str,
    /// Its modification time, for comparison.
    pub(super) when: Option<Stamp>,
    /// Its name, with its target if it is a link.
    pub(super) name: &'a str,
}

/// Parses `-rw-r--r--  1 owner group  123 Jan  6 13:43 name`, also with human sizes, without names or with numeric
/// dates.
fn parse(line: &str) -> Option<Entry<'_>> {
    let mode = mode(line)?;
    let line = entry(line);
    let mut words = WordCursor(line.get(10..)?.trim_start_matches(['+', '.', '@']));
    words.next()?;
    let owners = words.0;
    // `-g` and `-o` each omit one of the names.
    for names in [2, 1, 0] {
        words.0 = owners;
        for _ in 0..names {
            words.next();
        }
        let owner = between(owners, words.0);
        let Some(mut sized) = words.next() else { continue };
        if sized.ends_with(',') {
            // A device has two numbers instead.
            words.next();
            sized = "-";
        } else if bytes_of(sized).is_none() {
            continue;
        }
        let before = words.0;
        if let Some(when) = time(&mut words) {
            let name = words.0.strip_prefix(' ').unwrap_or(words.0);
            let (bytes, date) = (bytes_of(sized), between(before, words.0));
            return Some(Entry { mode, owner, bytes, sized, date, when, name });
        }
    }
    None
}

/// Returns the part of a text before its end.
fn between<'a>(text: &'a str, end: &str) -> &'a str {
    text.get(..text.len().saturating_sub(end.len())).unwrap_or_default().trim()
}

/// The words of a line, one at a time, with the rest after the last.
struct WordCursor<'a>(&'a str);

impl<'a> WordCursor<'a> {
    fn next(&mut self) -> Option<&'a str> {
        let text = self.0.trim_start_matches(' ');
        let end = text.find(' ').unwrap_or(text.len());
        let (word, rest) = text.split_at_checked(end)?;
        self.0 = rest;
        (!word.is_empty()).then_some(word)
    }
}

/// Parses the date of an entry. The year is not printed for recent months, and is assumed to be later than any that is.
fn time(words: &mut WordCursor<'_>) -> Option<Option<Stamp>> {
    let first = words.next()?;
    if let Some(day) = dates::iso(first) {
        let rest = words.0;
        let clock = words.next().filter(|word| word.as_bytes().get(2) == Some(&b':'));
        let Some(clock) = clock else {
            words.0 = rest;
            return Some(Some(day));
        };
        let rest = words.0;
        if !words.next().is_some_and(|zone| zone.len() == 5 && zone.strip_prefix(['+', '-']).and_then(number).is_some())
        {
            words.0 = rest;
        }
        return Some(dates::iso(&format!("{first} {}", clock.get(..8).unwrap_or(clock))).or(Some(day)));
    }
    let (month, day) = match (dates::month_of(first), number(first)) {
        (Some(month), _) => (month, number(words.next()?)?.0),
        (None, Some((day, ""))) => (dates::month_of(words.next()?)?, day),
        _ => return None,
    };
    let last = words.next()?;
    match last.contains(':') {
        true => Some(dates::stamp(9999, month, day, dates::clock(last))),
        false => Some(dates::stamp(number(last)?.0, month, day, 0)),
    }
}

/// Parses a size in bytes, also as printed with `-h`.
pub(super) fn bytes_of(text: &str) -> Option<u64> {
    let (whole, rest) = number(text)?;
    let (tenths, unit) = match rest.strip_prefix('.') {
        Some(fraction) => (
            fraction.bytes().next().map_or(0, |byte| u64::from(byte.wrapping_sub(b'0').min(9))),
            fraction.trim_start_matches(|c: char| c.is_ascii_digit()),
        ),
        None => (0, rest),
    };
    let factor: u64 = match unit.as_bytes() {
        [] | [b'B'] => 1,
        [b'K' | b'k', ..] => 1 << 10,
        [b'M', ..] => 1 << 20,
        [b'G', ..] => 1 << 30,
        [b'T', ..] => 1 << 40,
        _ => return None,
    };
    Some(whole.saturating_mul(factor).saturating_add(tenths * (factor / 10)))
}

fn read(source: &dyn Source, sample: &Sample<'_>) -> io::Result<Option<Page>> {
    let long = sample.full_lines().any(|line| mode(line).is_some());
    let mut listing = Listing::default();
    let mut count = 0_u64;
    let mut blank_before = true;
    let log = Fold::rest_of(source, |line| {
        let blank = line.text.is_empty();
        let after_blank = std::mem::replace(&mut blank_before, blank);
        count += u64::from(!blank);
        if blank || is_total(line.text) {
        } else if let Some(entry) = parse(line.text) {
            listing.entry(&entry, line.text);
        } else if after_blank && is_folder(line.text) {
            listing.begin(line.text.strip_suffix(':').unwrap_or(line.text));
        } else if long || line.text.starts_with("ls: ") {
            return false;
        } else {
            listing.name(line.text);
        }
        true
    })?;
    Ok(log.beside(count, || listing.page()))
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use super::*;
    use crate::check::{check, digest};

    #[test]
    fn the_sum_of_round_sizes_is_not_exact() {
        let row = |name: &str| format!("-rw-r--r-- 1 ada ada 1.5K Jan  6 13:43 {name}\n");
        let raw = format!("a:\ntotal 8.0K\n{}{}\nb:\ntotal 4.0K\n{}", row("x"), row("y"), row("z"));
        let told = digest(&raw, 600);
        assert!(told.contains("ls: 3 files, 0 directories, about 4.5 KiB in all, 2 folders listed; "), "{told}");
        assert!(told.contains("\na: 2 entries\n"), "{told}");
    }

    #[test]
    fn what_stands_out_in_folders() {
        let list = ".:
total 12
drwxr-xr-x  9 root root 4096 Mar  3  2025 .
drwxr-xr-x 27 root root 4096 Nov 15 10:10 ..
drwxr-xr-x  2 root root 4096 Mar  3  2025 bin
lrwxrwxrwx  1 root root   22 Mar  3  2025 current -> releases/2025-02-27
-rw-rw-rw-  1 root root  412 Mar  6  2025 secret.yaml

./bin:
total 8
-rwxr-xr-x 1 root root 3811 Feb  7  2025 deploy
-rw-r--r-- 1 root root 1902 Oct 30  2024 roll back
-rwxr-xr-x 1 root root    0 Oct 30 12:00 empty.sh
";
        check(list, 600).shows(&expect![[r#"
            ls: 4 files, 1 directory, 1 link, 6.0 KiB in all, 2 folders listed
            == counts
            files by extension: none 2, sh 1, yaml 1
            by permissions: -rwxr-xr-x 2, -rw-r--r-- 1, -rw-rw-rw- 1
            by owner: root root 6
            == odd permissions and sorts: 1
            -rw-rw-rw-  1 root root  412 Mar  6  2025 secret.yaml (in .)
            == biggest files: 4
            3811 Feb  7  2025 ./bin/deploy
            1902 Oct 30  2024 ./bin/roll back
            412 Mar  6  2025 ./secret.yaml
            0 Oct 30 12:00 ./bin/empty.sh
            == files whose permissions no other in their folder has: 1
            -rw-r--r-- 1 root root 1902 Oct 30  2024 roll back (in ./bin)
            == empty files: 1
            ./bin/empty.sh
            == newest: 5
            Oct 30 12:00 ./bin/empty.sh
            Mar  6  2025 ./secret.yaml
            Mar  3  2025 ./current -> releases/2025-02-27
            Feb  7  2025 ./bin/deploy
            Oct 30  2024 ./bin/roll back
            == 1 link
            ./current -> releases/2025-02-27
            == oldest: 5, 3 shown
            Oct 30  2024 ./bin/roll back
            Feb  7  2025 ./bin/deploy
            Mar  3  2025 ./current -> releases/2025-02-27
            == folders, digits of like ones as #: 2
            ./bin: 3 entries, 5713 bytes
            .: 3 entries, 412 bytes
            == entries as listed: 4
            -rw-rw-rw-  1 root root  412 Mar  6  2025 secret.yaml (in .)
            -rwxr-xr-x 1 root root 3811 Feb  7  2025 deploy (in ./bin)
            -rw-r--r-- 1 root root 1902 Oct 30  2024 roll back (in ./bin)
            -rwxr-xr-x 1 root root    0 Oct 30 12:00 empty.sh (in ./bin)"#]]);
    }

    #[test]
    fn every_form_of_an_entry_is_read() {
        for (line, bytes, name) in [
            ("-rw-r--r-- 1 root root 12 Jan  6 13:43 a b", Some(12), "a b"),
            ("-rw-r--r--. 1 root root 1.5K 2025-01-06 13:43 a", Some(1_534), "a"),
            ("-rw-r--r-- 1 root root 12 2025-01-06 13:43:00.123456789 +0000 a", Some(12), "a"),
            ("-rw-r--r--+ 1 root 12 Jan  6  2024 a", Some(12), "a"),
            ("crw-rw-rw- 1 root root 1, 3 Jan  6 13:43 null", None, "null"),
            ("  5299 4 -rw-r--r-- 1 root root 12 Jan  6 13:43 ./a", Some(12), "./a"),
        ] {
            let entry = parse(line).unwrap();
            assert_eq!((entry.bytes, entry.name), (bytes, name), "{line}");
        }
    }

    #[test]
    fn other_texts_are_not_listings() {
        for text in [
            "one:\ntwo\n\nthree:\nfour\n\nfive words here\nsix\n",
            "total 12\ntotal 13\ntotal 14\n",
            "d-r-w-x-r- a\nb\nc\n",
        ] {
            assert!(!digest(text, 400).contains("ls: "), "{text}");
        }
    }
}
