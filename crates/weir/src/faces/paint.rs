//! Makes an answer readable and safe on a terminal: colours references and marks, and removes control characters.

use std::io::Write as _;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use anstyle::{AnsiColor, Style};
use weir_core::Reference;

use crate::context::ConsentPrompt;

/// Whether a line of progress is on the terminal.
static HAS_PROGRESS: AtomicBool = AtomicBool::new(false);

/// Writes text to standard output, with colour if it is a terminal that supports it. There, the given words are bold.
pub(crate) fn print(text: &str, words: &[String]) -> std::io::Result<()> {
    use std::io::IsTerminal as _;
    let stdout = std::io::stdout();
    let text = match (anstream::AutoStream::choice(&stdout), stdout.is_terminal()) {
        (anstream::ColorChoice::Never, false) => text.to_owned(),
        (anstream::ColorChoice::Never, true) => without_fences(&safe(text)).join("\n"),
        (_, false) => safe(text).lines().map(paint).collect::<Vec<_>>().join("\n"),
        (_, true) => {
            let text = safe(text);
            let lines = without_fences(&text).into_iter().map(|line| match paint(line) {
                painted if painted != line => painted,
                plain => highlighted(&plain, words),
            });
            lines.collect::<Vec<_>>().join("\n")
        }
    };
    writeln!(stdout.lock(), "{}", text.trim_end_matches('\n'))
}

/// Shows progress on standard error, on a line that the next one overwrites. Only for a person.
pub(crate) fn show_progress(progress: &str) {
    use std::io::IsTerminal as _;
    let stderr = std::io::stderr();
    if stderr.is_terminal() {
        HAS_PROGRESS.store(!progress.is_empty(), Ordering::Relaxed);
        let _ = write!(stderr.lock(), "\r\u{1b}[K{}\r", safe(progress).replace('\n', " "));
    }
}

/// Removes the line of progress, so that what follows does not end in the rest of it.
pub(crate) fn clear_progress() {
    if HAS_PROGRESS.swap(false, Ordering::Relaxed) {
        let _ = write!(std::io::stderr().lock(), "\r\u{1b}[K");
    }
}

/// Writes a remark to standard error, where it cannot be mistaken for the answer.
pub(crate) fn warn(remark: &str) {
    let _ = writeln!(std::io::stderr().lock(), "{}", safe(remark));
}

/// Whether there is a person at the terminal who can be asked.
pub(crate) fn can_ask() -> bool {
    use std::io::IsTerminal as _;
    std::io::stdin().is_terminal() && std::io::stderr().is_terminal()
}

/// Shows a text and a question to the person at the terminal. Returns what was typed, in lower case.
pub(crate) fn ask(about: &str, question: &str) -> String {
    clear_progress();
    let _ = write!(std::io::stderr().lock(), "{}\n\n{question} ", safe(about));
    let mut answer = String::new();
    // Without an answer, nothing is agreed to.
    let _ = std::io::stdin().read_line(&mut answer);
    answer.trim().to_lowercase()
}

/// Returns a way to ask the person at the terminal for consent, if there is one.
pub(crate) fn asker() -> ConsentPrompt {
    if !can_ask() {
        return None;
    }
    Some(Arc::new(|question, about| {
        Box::pin(async move {
            let _ = write!(std::io::stderr().lock(), "{}\n{}\n[y/N] ", safe(&about), safe(&question));
            let mut answer = String::new();
            std::io::stdin().read_line(&mut answer).is_ok() && answer.trim().eq_ignore_ascii_case("y")
        })
    }))
}

/// Returns the lines of an answer without the fences around other people's texts, which are for models.
fn without_fences(text: &str) -> Vec<&str> {
    let mut lines = Vec::new();
    let mut inside = None;
    for line in text.lines() {
        if inside.is_some() && line.strip_suffix(">>>") == inside {
            inside = None;
        } else if inside.is_none() && line.strip_prefix("<<<").is_some_and(|mark| Reference::parse(mark).is_ok()) {
            inside = line.strip_prefix("<<<");
        } else {
            lines.push(line);
        }
    }
    lines
}

/// Replaces what a terminal would obey in a stored text, a path or a message: escape sequences and other control
/// characters, and characters that turn the direction of a line around.
pub(crate) fn safe(text: &str) -> String {
    let kept = |c: char| matches!(c, '\n' | '\t') || !is_obeyed(c);
    text.replace("\r\n", "\n").chars().map(|c| if kept(c) { c } else { '\u{fffd}' }).collect()
}

/// Escapes what a terminal would obey in JSON, where it occurs only inside strings. The value stays the same.
pub(crate) fn safe_json(text: &str) -> String {
    let escaped = |c: char| match c {
        '\n' => "\n".to_owned(),
        c if is_obeyed(c) => format!("\\u{:04x}", u32::from(c)),
        c => c.to_string(),
    };
    if text.chars().any(|c| c != '\n' && is_obeyed(c)) { text.chars().map(escaped).collect() } else { text.to_owned() }
}

/// Whether a terminal obeys a character instead of showing it.
fn is_obeyed(c: char) -> bool {
    c.is_control() || matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// Returns a line with every occurrence of the words at the beginning of a word in bold.
fn highlighted(line: &str, words: &[String]) -> String {
    let bold = Style::new().bold();
    let mut shown = String::with_capacity(line.len());
    let (mut at, mut before) = (0, ' ');
    while let Some(next) = line[at..].chars().next() {
        let is_word = |word: &&String| line[at..].get(..word.len()).is_some_and(|here| here.eq_ignore_ascii_case(word));
        let found = words.iter().filter(|word| !word.is_empty() && !before.is_alphanumeric() && is_word(word));
        let length = match found.map(String::len).max() {
            Some(length) => {
                shown.push_str(&format!("{bold}{}{bold:#}", &line[at..at + length]));
                length
            }
            None => {
                shown.push(next);
                next.len_utf8()
            }
        };
        before = line[..at + length].chars().next_back().unwrap_or(' ');
        at += length;
    }
    shown
}

fn paint(line: &str) -> String {
    let colour = |colour: AnsiColor| Style::new().fg_color(Some(colour.into()));
    let whole = |style: Style| format!("{style}{line}{style:#}");
    if line.starts_with("<<<") || line.ends_with(">>>") {
        return whole(Style::new().dimmed());
    }
    if line.starts_with('✓') {
        return whole(colour(AnsiColor::Green));
    }
    if line.starts_with('✗') {
        return whole(colour(AnsiColor::Red));
    }
    match (line.find("[ctx:"), line.find(']')) {
        (Some(start), Some(end)) if start < end => {
            let style = colour(AnsiColor::Cyan);
            format!("{}{style}{}{style:#}{}", &line[..start], &line[start..=end], &line[end + 1..])
        }
        _ => line.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stored_escape_sequence_cannot_reach_the_terminal() {
        assert_eq!(safe("a\u{1b}[2Jb\tc\r\nd\re"), "a\u{fffd}[2Jb\tc\nd\u{fffd}e");
        assert_eq!(safe("gnp.\u{202e}exe \u{9b}2J"), "gnp.\u{fffd}exe \u{fffd}2J");
    }

    #[test]
    fn json_keeps_its_value_and_has_nothing_that_a_terminal_obeys() {
        let value = serde_json::json!({ "title": "a\u{1b}b\u{9b}c\u{7f}d\u{202e}e\tf" });
        let shown = safe_json(&serde_json::to_string_pretty(&value).unwrap());
        assert!(shown.chars().all(|c| c == '\n' || !is_obeyed(c)), "{shown:?}");
        assert_eq!(serde_json::from_str::<serde_json::Value>(&shown).unwrap(), value);
    }

    #[test]
    fn words_are_bold_where_a_word_begins() {
        let words = ["pool".to_owned(), "größe".to_owned()];
        assert_eq!(
            highlighted("The Pools: carpool, größer", &words),
            "The \u{1b}[1mPool\u{1b}[0ms: carpool, \u{1b}[1mgröße\u{1b}[0mr"
        );
        assert_eq!(highlighted("nothing", &[]), "nothing");
    }

    #[test]
    fn a_person_sees_no_fences_but_every_line_inside() {
        let (one, two) = ("k7f2m9q4xz", "a7f2m9q4xz");
        let text = format!("head\n<<<{one}\n<<<{two}\ninside\n{two}>>>\n{one}>>>\nfoot\n<<<no mark\n{one}>>>");
        let expected = ["head", &format!("<<<{two}"), "inside", &format!("{two}>>>"), "foot", "<<<no mark"];
        let shown = without_fences(&text);
        assert_eq!(shown[..6], expected);
        assert_eq!(shown[6], format!("{one}>>>"));
    }
}
