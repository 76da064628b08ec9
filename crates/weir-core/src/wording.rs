//! Formats numbers and texts for answers.

use crate::Reference;

/// Formats a count with its noun.
pub fn counted(count: usize, one: &str, many: &str) -> String {
    format!("{count} {}", if count == 1 { one } else { many })
}

/// Formats a number of bytes with its unit.
pub fn size(bytes: u64) -> String {
    const UNITS: [&str; 4] = ["KiB", "MiB", "GiB", "TiB"];
    if bytes < 1_024 {
        return format!("{bytes} B");
    }
    let mut value = bytes as f64 / 1_024.0;
    let mut unit = 0;
    // A value that would be rounded up to 1024 of one unit is one of the next.
    while value >= 1_023.95 && unit + 1 < UNITS.len() {
        value /= 1_024.0;
        unit += 1;
    }
    format!("{value:.1} {}", UNITS[unit])
}

/// Encloses a text in marks that contain its reference. The text was written before its reference was drawn, so it
/// cannot contain its own closing mark.
pub fn fence(reference: Reference, text: &str) -> String {
    let mark = reference.as_str();
    match text.trim_end_matches('\n') {
        "" => format!("<<<{mark}\n{mark}>>>"),
        text => format!("<<<{mark}\n{text}\n{mark}>>>"),
    }
}

/// Returns the beginning of a text as one line of at most `most` characters.
pub fn one_line(text: &str, most: usize) -> String {
    let mut line: String = text.chars().map(|c| if c.is_control() { ' ' } else { c }).take(most).collect();
    if text.chars().count() > most {
        line.push('…');
    }
    line
}

/// Quotes a word for a shell.
pub fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./=:,@%+".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', r"'\''"))
}
