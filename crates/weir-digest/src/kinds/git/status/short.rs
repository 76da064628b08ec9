//! The short formats of `git status`: `--short`, `--porcelain`, and its second version.

use std::io;

use super::{MAX_PATH_BYTES, Status, StatusSection};
use crate::kinds::fold::Fold;
use crate::sample::Sample;
use crate::{Item, Page, Source};

/// Parses the two letters of a short line, and its path.
fn short(text: &str) -> Option<(u8, u8, &str)> {
    let bytes = text.as_bytes();
    let letter = |byte: u8| matches!(byte, b' ' | b'M' | b'T' | b'A' | b'D' | b'R' | b'C' | b'U' | b'?' | b'!');
    let (&index, &tree) = (bytes.first()?, bytes.get(1)?);
    let marks = (index == b'?') == (tree == b'?') && (index == b'!') == (tree == b'!');
    let fits = letter(index) && letter(tree) && marks && (index != b' ' || tree != b' ') && bytes.get(2) == Some(&b' ');
    let path = text.get(3..).filter(|path| !path.is_empty() && !path.starts_with(' '))?;
    // A path with spaces is quoted.
    let plain = !path.contains(' ') || path.contains(" -> ") || path.starts_with('"');
    (fits && plain).then_some((index, tree, path))
}

/// Parses a line of `--porcelain=v2`: the same two letters, and the path after the fields for programs.
fn porcelain(text: &str) -> Option<(u8, u8, String)> {
    if let Some(path) = text.strip_prefix("? ") {
        return Some((b'?', b'?', path.to_owned()));
    }
    let fields = match text.get(..2)? {
        "1 " => 8,
        "2 " => 9,
        "u " => 10,
        _ => return None,
    };
    let mut words = text.splitn(fields + 1, ' ').skip(1);
    let letters = words.next().filter(|letters| letters.len() == 2)?;
    let path = words.nth(fields - 2)?;
    // The old path of a moved file follows the new one.
    let path = path.split_once('\t').map_or_else(|| path.to_owned(), |(to, from)| format!("{from} -> {to}"));
    let letter = |place: usize| letters.as_bytes().get(place).map(|&byte| if byte == b'.' { b' ' } else { byte });
    Some((letter(0)?, letter(1)?, path))
}

fn is_branch(text: &str) -> bool {
    text.starts_with("## ") || text.starts_with("# branch.")
}

/// Returns whether nearly every line belongs to a short status.
pub(super) fn is(sample: &Sample<'_>) -> bool {
    sample.mostly(97, |line| short(line).is_some() || is_branch(line) || porcelain(line).is_some())
        && sample.full_lines().any(|line| !is_branch(line))
}

pub(super) fn read(source: &dyn Source, _: &Sample<'_>) -> io::Result<Option<Page>> {
    let mut status = Status::default();
    let mut count = 0;
    let log = Fold::rest_of(source, |line| {
        count += u64::from(!line.text.is_empty());
        if let Some((index, tree, path)) = short(line.text) {
            status.add_short(index, tree, path);
        } else if let Some((index, tree, path)) = porcelain(line.text) {
            status.add_short(index, tree, &path);
        } else if is_branch(line.text) {
            status.about.push(Item::at(line.number, line.clip(MAX_PATH_BYTES)));
        } else {
            return line.text.is_empty();
        }
        status.about.truncate(20);
        true
    })?;
    Ok(log.beside(count, || status.into_page("git status --short")))
}

impl Status {
    fn add_short(&mut self, index: u8, tree: u8, path: &str) {
        match (index, tree) {
            (b'?', _) => self.add(StatusSection::Untracked, StatusSection::Untracked.name(), path),
            (b'!', _) => self.add(StatusSection::Ignored, StatusSection::Ignored.name(), path),
            (b'U', _) | (_, b'U') | (b'A', b'A') | (b'D', b'D') => {
                let state = match (index, tree) {
                    (b'U', b'U') => "both modified",
                    (b'A', b'A') => "both added",
                    (b'D', b'D') => "both deleted",
                    (b'D', _) => "deleted by us",
                    (_, b'D') => "deleted by them",
                    (b'A', _) => "added by us",
                    _ => "added by them",
                };
                self.add(StatusSection::Unmerged, state, path);
            }
            _ => {
                if index != b' ' {
                    self.add(StatusSection::Staged, state_of(index), path);
                }
                if tree != b' ' {
                    self.add(StatusSection::Unstaged, state_of(tree), path);
                }
            }
        }
    }
}

fn state_of(letter: u8) -> &'static str {
    match letter {
        b'A' => "new",
        b'D' => "deleted",
        b'R' => "renamed",
        b'C' => "copied",
        b'T' => "type changed",
        _ => "modified",
    }
}
