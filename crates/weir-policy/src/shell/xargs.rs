//! Finds the command that `xargs` runs.

use std::collections::HashSet;

use super::UnclearKind;
use super::unwrap::{CarriedCommand, LATER};
use super::words::Word;

/// Returns the command of `xargs`, with the words that it appends or inserts. An option that is not listed may or may
/// not take a value, so both readings are followed.
pub(super) fn inner(words: &[Word]) -> Vec<CarriedCommand> {
    let mut found = Vec::new();
    // A position in the words, and the mark that is replaced.
    let mut waiting = vec![(1_usize, None::<String>)];
    let mut seen = HashSet::new();
    while let Some((at, mark)) = waiting.pop() {
        let Some(word) = words.get(at) else { continue };
        if !seen.insert((at, mark.clone())) {
            continue;
        }
        if !word.known_start().starts_with('-') {
            found.push(CarriedCommand::Words(with_input(&words[at..], mark.as_deref())));
        } else if let Some(text) = word.literal() {
            let (new_mark, steps) = option(text, words.get(at + 1));
            let mark = new_mark.or(mark);
            waiting.extend(steps.iter().map(|step| (at + step, mark.clone())));
        } else {
            found.push(CarriedCommand::Unclear(UnclearKind::Name, LATER));
        }
    }
    found
}

/// Returns the mark that an option of `xargs` sets, and how many words the option may take up, including itself.
fn option(text: &str, next: Option<&Word>) -> (Option<String>, &'static [usize]) {
    const VALUES: &str = "EIJLPRSadns";
    const LONG_VALUES: &[&str] =
        &["--max-args", "--max-procs", "--delimiter", "--arg-file", "--max-chars", "--process-slot-var"];
    const LONG_ALONE: &[&str] = &[
        "--", "--eof", "--exit", "--interactive", "--max-lines", "--no-run-if-empty", "--null", "--open-tty",
        "--replace", "--show-limits", "--verbose",
    ];
    if text.starts_with("--") {
        let (name, value) = text.split_once('=').map_or((text, None), |(name, value)| (name, Some(value)));
        let is_mark = name.len() > 2 && "--replace".starts_with(name);
        let mark = is_mark.then(|| value.unwrap_or("{}").to_owned());
        return match value {
            Some(_) => (mark, &[1]),
            None if LONG_ALONE.contains(&name) => (mark, &[1]),
            None if LONG_VALUES.contains(&name) => (mark, &[2]),
            None => (mark, &[1, 2]),
        };
    }
    let letters = text.trim_start_matches('-');
    let Some((index, letter)) = letters.char_indices().find(|(_, c)| VALUES.contains(*c)) else {
        let mark = letters.strip_prefix('i').map(|mark| if mark.is_empty() { "{}" } else { mark }.to_owned());
        return (mark, &[1]);
    };
    let attached = &letters[index + 1..];
    let value = if attached.is_empty() { next.and_then(Word::literal).unwrap_or("{}") } else { attached };
    let mark = (letter == 'I' || letter == 'J').then(|| value.to_owned());
    (mark, if attached.is_empty() { &[2] } else { &[1] })
}

/// Returns the words of a command that `xargs` runs, with what it reads in place of the mark or at the end.
fn with_input(words: &[Word], mark: Option<&str>) -> Vec<Word> {
    let put_in = |word: &Word| match mark {
        Some(mark) if word.source().contains(mark) => Word::unknown(word.source()),
        _ => word.clone(),
    };
    let mut inner: Vec<Word> = words.iter().map(put_in).collect();
    if mark.is_none() {
        inner.push(Word::unknown("…"));
    }
    inner
}
