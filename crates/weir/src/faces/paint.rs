//! Makes an answer readable and safe on a terminal: colours references and marks, and removes control characters.

use std::io::Write as _;
use std::sync::Arc;

use anstyle::{AnsiColor, Style};
use weir_core::Reference;

use crate::context::ConsentPrompt;

/// Writes text to standard output, with colour if it is a terminal that supports it.
pub(crate) fn print(text: &str) -> std::io::Result<()> {
    use std::io::IsTerminal as _;
    let stdout = std::io::stdout();
    let text = match (anstream::AutoStream::choice(&stdout), stdout.is_terminal()) {
        (anstream::ColorChoice::Never, false) => text.to_owned(),
        (anstream::ColorChoice::Never, true) => without_fences(&safe(text)).join("\n"),
        (_, false) => safe(text).lines().map(paint).collect::<Vec<_>>().join("\n"),
        (_, true) => without_fences(&safe(text)).into_iter().map(paint).collect::<Vec<_>>().join("\n"),
    };
    writeln!(stdout.lock(), "{}", text.trim_end_matches('\n'))
}

/// Shows progress on standard error, on a line that the next one overwrites. Only for a person.
pub(crate) fn show_progress(progress: &str) {
    use std::io::IsTerminal as _;
    let stderr = std::io::stderr();
    if stderr.is_terminal() {
        let _ = write!(stderr.lock(), "\r\u{1b}[K{progress}\r");
    }
}

/// Writes a remark to standard error, where it cannot be mistaken for the answer.
pub(crate) fn warn(remark: &str) {
    let _ = writeln!(std::io::stderr().lock(), "{remark}");
}

/// Returns a way to ask the person at the terminal, if there is one.
pub(crate) fn asker() -> ConsentPrompt {
    use std::io::IsTerminal as _;
    if !std::io::stdin().is_terminal() || !std::io::stderr().is_terminal() {
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

/// Replaces control characters, because a terminal would obey escape sequences in stored output.
fn safe(text: &str) -> String {
    text.chars().map(|c| if c.is_control() && c != '\n' && c != '\t' { '\u{fffd}' } else { c }).collect()
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
        assert_eq!(safe("a\u{1b}[2Jb\tc\nd"), "a\u{fffd}[2Jb\tc\nd");
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
