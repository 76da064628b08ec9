//! Makes an answer readable and safe on a terminal: colours references and marks, and removes control characters.

use std::io::{IsTerminal as _, Write as _};
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use anstyle::{AnsiColor, Style};
use serde_json::Value;
use weir_core::Reference;
use weir_core::unseen::{is_obeyed, named};

use crate::consent::ConsentPrompt;
use crate::error::{CommandError, ErrorKind};
use crate::face::Reader;

/// Whether a line of progress is on the terminal.
static HAS_PROGRESS: AtomicBool = AtomicBool::new(false);

/// Writes text to standard output. A person sees it without the marks that are for models; on a terminal, with colours,
/// the given words in bold, and long lines of Weir's own wrapped between words.
pub fn print(text: &str, words: &[String], reader: Reader) -> std::io::Result<()> {
    let stdout = std::io::stdout();
    let is_plain = anstream::AutoStream::choice(&stdout) == anstream::ColorChoice::Never;
    let columns = if stdout.is_terminal() { screen().map(|(columns, _)| columns) } else { None };
    let safe = if stdout.is_terminal() || !is_plain { safe(text) } else { text.to_owned() };
    let text = match reader {
        Reader::Model => safe,
        Reader::Person => {
            let lines = without_fences(&safe).into_iter().map(|Line { text, is_stored }| {
                let line = columns.filter(|_| !is_stored).map_or_else(|| text.to_owned(), |most| wrapped(text, most));
                match paint(&line) {
                    _ if is_plain => line,
                    painted if painted != line => painted,
                    _ => highlighted(&line, words),
                }
            });
            lines.collect::<Vec<_>>().join("\n")
        }
    };
    writeln!(stdout.lock(), "{}", text.trim_end_matches('\n'))
}

/// Returns the line above a text that is shown in full, in colour if standard output has colours.
pub fn head(line: &str) -> String {
    match anstream::AutoStream::choice(&std::io::stdout()) {
        anstream::ColorChoice::Never => safe(line),
        _ => paint(&safe(line)),
    }
}

fn screen() -> Option<(usize, u64)> {
    let (columns, rows) = terminal_size::terminal_size()?;
    Some((usize::from(columns.0), u64::from(rows.0)))
}

/// Whether this many lines are more than the terminal shows at once.
pub fn is_more_than_a_screen(lines: u64) -> bool {
    screen().is_some_and(|(_, rows)| lines > rows)
}

/// Returns a text for standard error, safe for a terminal, and wrapped between words if it is one.
pub fn for_stderr(text: &str) -> String {
    let text = safe(text);
    let columns = if std::io::stderr().is_terminal() { screen().map(|(columns, _)| columns) } else { None };
    let Some(columns) = columns else { return text };
    text.lines().map(|line| wrapped(line, columns)).collect::<Vec<_>>().join("\n")
}

/// Breaks a line between words so that it fits a number of columns. What follows is indented a little further.
fn wrapped(line: &str, columns: usize) -> String {
    let indent = line.len() - line.trim_start_matches(' ').len() + 2;
    let mut shown = String::with_capacity(line.len());
    let (mut rest, mut room) = (line, columns);
    while let Some((end, _)) = rest.char_indices().nth(room) {
        // A word that is longer than a line stays whole, so that a path can be copied.
        let fits = rest[..end].rfind(' ').filter(|at| !rest[..*at].trim().is_empty());
        let Some(at) = fits.or_else(|| rest[end..].find(' ').map(|at| end + at)) else { break };
        shown.push_str(rest[..at].trim_end());
        shown.push('\n');
        shown.push_str(&" ".repeat(indent));
        rest = rest[at..].trim_start();
        room = columns.saturating_sub(indent).max(1);
    }
    shown + rest
}

/// Shows progress on standard error, on a line that the next one overwrites. Only for a person.
pub fn show_progress(progress: &str) {
    let stderr = std::io::stderr();
    if stderr.is_terminal() {
        HAS_PROGRESS.store(!progress.is_empty(), Ordering::Relaxed);
        let _ = write!(stderr.lock(), "\r\u{1b}[K{}\r", safe(progress).replace('\n', " "));
    }
}

/// Removes the line of progress, so that what follows does not end in the rest of it.
pub fn clear_progress() {
    if HAS_PROGRESS.swap(false, Ordering::Relaxed) {
        let _ = write!(std::io::stderr().lock(), "\r\u{1b}[K");
    }
}

/// Writes a remark to standard error, where it cannot be mistaken for the answer.
pub fn warn(remark: &str) {
    let _ = writeln!(std::io::stderr().lock(), "{}", for_stderr(remark));
}

/// Writes data to standard output as JSON, safe for a terminal.
pub fn print_json(data: &Value) -> std::io::Result<()> {
    let text = serde_json::to_string_pretty(data).unwrap_or_default();
    writeln!(std::io::stdout(), "{}", safe_json(&text))
}

/// Converts the result of writing an answer. A closed pipe (`| head`) is not an error.
pub fn written(result: std::io::Result<()>) -> Result<ExitCode, CommandError> {
    match result {
        Err(error) if error.kind() != std::io::ErrorKind::BrokenPipe => {
            Err(CommandError::new(ErrorKind::Failed, format!("cannot write the answer: {error}")))
        }
        _ => Ok(ExitCode::SUCCESS),
    }
}

/// Writes an error to standard error: what went wrong, and what to do.
pub fn show_error(error: &CommandError) {
    clear_progress();
    let mut stderr = anstream::stderr().lock();
    let style = Style::new().bold().fg_color(Some(AnsiColor::Red.into()));
    let text = for_stderr(&error.to_string());
    let _ = writeln!(stderr, "{style}error:{style:#}{}", text.strip_prefix("error:").unwrap_or(&text));
}

/// Whether there is a person at the terminal who can be asked.
pub fn can_ask() -> bool {
    std::io::stdin().is_terminal() && std::io::stderr().is_terminal()
}

/// Shows a text and a question to the person at the terminal. Returns what was typed, in lower case.
pub fn ask(about: &str, question: &str) -> String {
    clear_progress();
    let _ = write!(std::io::stderr().lock(), "{}\n\n{question} ", for_stderr(about));
    let mut answer = String::new();
    // Without an answer, nothing is agreed to.
    let _ = std::io::stdin().read_line(&mut answer);
    answer.trim().to_lowercase()
}

/// Returns a way to ask the person at the terminal for consent, if there is one.
pub fn asker() -> ConsentPrompt {
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

#[derive(Debug, PartialEq, Eq)]
struct Line<'a> {
    text: &'a str,
    /// Whether it was between fences.
    is_stored: bool,
}

/// Returns the lines of an answer without the fences around other people's texts, which are for models.
fn without_fences(text: &str) -> Vec<Line<'_>> {
    let mut lines = Vec::new();
    let mut inside = None;
    for line in text.lines() {
        if inside.is_some() && line.strip_suffix(">>>") == inside {
            inside = None;
        } else if inside.is_none() && line.strip_prefix("<<<").is_some_and(|mark| Reference::parse(mark).is_ok()) {
            inside = line.strip_prefix("<<<");
        } else {
            lines.push(Line { text: line, is_stored: inside.is_some() });
        }
    }
    lines
}

/// Names what a terminal would obey in a stored text, a path or a message, and what nobody would see: escape sequences
/// and other control characters, and characters that turn the direction of a line around.
pub fn safe(text: &str) -> String {
    named(&text.replace("\r\n", "\n")).into_owned()
}

/// Escapes what a terminal would obey in JSON, where it occurs only inside strings. The value stays the same.
pub fn safe_json(text: &str) -> String {
    let escaped = |c: char| match c {
        '\n' => "\n".to_owned(),
        c if is_obeyed(c) => c.encode_utf16(&mut [0; 2]).iter().map(|unit| format!("\\u{unit:04x}")).collect(),
        c => c.to_string(),
    };
    if text.chars().any(|c| c != '\n' && is_obeyed(c)) { text.chars().map(escaped).collect() } else { text.to_owned() }
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
        assert_eq!(safe("a\u{1b}[2Jb\tc\r\nd\re"), "a<U+001B>[2Jb\tc\nd<U+000D>e");
        assert_eq!(safe("gnp.\u{202e}exe \u{9b}2J"), "gnp.<U+202E>exe <U+009B>2J");
    }

    #[test]
    fn json_keeps_its_value_and_has_nothing_that_a_terminal_obeys() {
        let value = serde_json::json!({ "title": "a\u{1b}b\u{9b}c\u{7f}d\u{202e}e\tf\u{e0041}" });
        let shown = safe_json(&serde_json::to_string_pretty(&value).unwrap());
        assert!(shown.chars().all(|c| c == '\n' || !is_obeyed(c)), "{shown:?}");
        assert_eq!(serde_json::from_str::<Value>(&shown).unwrap(), value);
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
    fn long_lines_are_broken_between_words() {
        for (line, columns, expected) in [
            ("start Codex, and trust Weir's hooks", 20, "start Codex, and\n  trust Weir's hooks"),
            ("  fix: weir setup codex --yes now", 20, "  fix: weir setup\n    codex --yes now"),
            ("/a/path/that/is/longer/than/this and more", 20, "/a/path/that/is/longer/than/this\n  and more"),
            ("größer mit zwanzig Spalten", 20, "größer mit zwanzig\n  Spalten"),
            ("it fits", 20, "it fits"),
        ] {
            assert_eq!(wrapped(line, columns), expected);
        }
    }

    #[test]
    fn a_person_sees_no_fences_but_every_line_inside() {
        let (one, two) = ("k7f2m9q4xz", "a7f2m9q4xz");
        let text = format!("head\n<<<{one}\n<<<{two}\ninside\n{two}>>>\n{one}>>>\nfoot\n<<<no mark\n{one}>>>");
        let expected = ["head", &format!("<<<{two}"), "inside", &format!("{two}>>>"), "foot", "<<<no mark"];
        let shown: Vec<&str> = without_fences(&text).iter().map(|line| line.text).collect();
        assert_eq!(shown[..6], expected);
        assert_eq!(shown[6], format!("{one}>>>"));
        assert!(without_fences(&text)[2].is_stored && !without_fences(&text)[4].is_stored);
    }
}
