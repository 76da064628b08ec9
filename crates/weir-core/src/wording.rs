//! Numbers and texts as answers word them.

use crate::Reference;

/// A number of things, in words.
pub fn counted(count: usize, one: &str, many: &str) -> String {
    format!("{count} {}", if count == 1 { one } else { many })
}

/// A number of bytes, in words.
pub fn size(bytes: u64) -> String {
    const UNITS: [&str; 4] = ["KiB", "MiB", "GiB", "TiB"];
    if bytes < 1_024 {
        return format!("{bytes} B");
    }
    let mut value = bytes as f64 / 1_024.0;
    let mut unit = 0;
    // What would be rounded up to 1024 of one unit is one of the next.
    while value >= 1_023.95 && unit + 1 < UNITS.len() {
        value /= 1_024.0;
        unit += 1;
    }
    format!("{value:.1} {}", UNITS[unit])
}

/// A text between marks that carry its reference. A text was written before its reference was drawn, so it cannot hold
/// its own closing mark.
pub fn fence(reference: Reference, text: &str) -> String {
    let mark = reference.as_str();
    match text.trim_end_matches('\n') {
        "" => format!("<<<{mark}\n{mark}>>>"),
        text => format!("<<<{mark}\n{text}\n{mark}>>>"),
    }
}

/// As much of a text as makes one short line.
pub fn one_line(text: &str, most: usize) -> String {
    let mut line: String = text.chars().map(|c| if c.is_control() { ' ' } else { c }).take(most).collect();
    if text.chars().count() > most {
        line.push('…');
    }
    line
}
