//! Classifies one value by how it is written: a gap, a number, a date; and by the name of its field.

use std::borrow::Cow;
use std::hash::{Hash, Hasher};

use weir_core::words::camel_parts;

use super::row::ValueSyntax;

/// What the name of a field implies about its values.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) enum Role {
    /// The severity of a record: `level`, `severity`.
    Level,
    /// Its message: `msg`, `message`.
    Message,
    /// What went wrong: `error`, `exception`.
    Error,
    /// How something ended: `status`, `outcome`.
    Outcome,
    /// What the record is called: `name`, `path`.
    Name,
    /// What identifies it: `id`, `req_id`, `sha`.
    Id,
    /// Nothing in particular.
    #[default]
    Other,
}

/// Words with which the name of a field ends that says how something ended: `status`, `test_result`, `exitState`.
const OUTCOMES: [&str; 7] = ["status", "outcome", "result", "conclusion", "state", "verdict", "health"];

/// Returns what the name of a field implies about its values.
pub(super) fn role(name: &str) -> Role {
    let last = name.rsplit('.').next().unwrap_or(name).trim_start_matches(['@', '_']);
    let lower = last.to_ascii_lowercase();
    match lower.as_str() {
        "level" | "severity" | "levelname" | "lvl" | "loglevel" | "log_level" | "priority" => Role::Level,
        "msg" | "message" | "event" | "rendered" | "text" | "summary" | "description" | "reason" => Role::Message,
        "error" | "err" | "errors" | "exception" | "exc_info" | "failure" | "stack" | "stacktrace" | "stack_trace"
        | "traceback" | "error_message" | "errormessage" | "failures" => Role::Error,
        "action" | "phase" => Role::Outcome,
        "key" | "name" | "address" | "addr" | "path" | "file" | "filename" | "title" | "sku" | "slug" | "url"
        | "email" | "login" | "test" | "of" | "filepath" | "file_path" | "package" | "pkg" => Role::Name,
        "hash" | "sha" | "uuid" | "guid" => Role::Id,
        _ if ends_with_word(last, "id") => Role::Id,
        _ if OUTCOMES.iter().any(|word| ends_with_word(last, word)) => Role::Outcome,
        _ => Role::Other,
    }
}

/// Hashes a text without its numbers and the words that contain digits.
pub(super) fn hash_without_numbers(text: &str, hasher: &mut impl Hasher) {
    for part in text.split_inclusive(|c: char| !c.is_alphanumeric()) {
        let word = part.trim_end_matches(|c: char| !c.is_alphanumeric());
        if word.bytes().any(|byte| byte.is_ascii_digit()) {
            part.get(word.len()..).unwrap_or_default().hash(hasher);
        } else {
            part.hash(hasher);
        }
    }
}

/// Returns whether a value stands for a missing one.
pub(super) fn is_gap(text: &str, sort: ValueSyntax) -> bool {
    match sort {
        ValueSyntax::Number => false,
        ValueSyntax::Text => text.is_empty(),
        ValueSyntax::Word => matches!(text, "null" | "None"),
        ValueSyntax::Cell => {
            text.len() <= 9
                && matches!(
                    text.trim(),
                    "" | "NA" | "N/A" | "n/a" | "NaN" | "nan" | "null" | "NULL" | "None" | "\\N" | "-" | "undefined"
                )
        }
    }
}

pub(super) fn number(text: &str, sort: ValueSyntax) -> Option<f64> {
    let with_comma = || if sort == ValueSyntax::Cell { number_with_comma(text) } else { None };
    number_with_point(text, sort).or_else(with_comma)
}

/// Parses a value as a number with a decimal point.
fn number_with_point(text: &str, sort: ValueSyntax) -> Option<f64> {
    let digits = text.strip_prefix('-').unwrap_or(text);
    let first = digits.bytes().next().filter(|byte| byte.is_ascii_digit() || *byte == b'.')?;
    // A JSON string of digits is an identifier; otherwise it would be a number.
    if sort == ValueSyntax::Text && !digits.contains('.') {
        return None;
    }
    if sort != ValueSyntax::Number {
        // `007` and `12e45` are identifiers.
        let plain = digits.len() <= 20 && digits.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
        let padded = first == b'0' && digits.len() > 1 && !digits.starts_with("0.");
        let exponent = digits.contains('.') && (digits.contains("e-") || digits.contains("e+"));
        if !(plain || exponent) || padded {
            return None;
        }
    }
    text.parse().ok().filter(|number: &f64| number.is_finite())
}

/// Parses a cell as a number with a decimal comma: `-1.234,50`. In `1,234`, the comma may as well separate thousands.
fn number_with_comma(text: &str) -> Option<f64> {
    let digits = text.strip_prefix('-').unwrap_or(text);
    let (whole, decimals) = digits.split_once(',')?;
    let is_plain = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let grouped = whole.split('.').skip(1).all(|group| group.len() == 3);
    let is_unclear = decimals.len() == 3 && whole != "0" && !whole.contains('.');
    if is_unclear || digits.len() > 20 || !grouped || !is_plain(decimals) || !whole.split('.').all(is_plain) {
        return None;
    }
    let plain: String = text.chars().filter(|&c| c != '.').map(|c| if c == ',' { '.' } else { c }).collect();
    plain.parse().ok()
}

/// Returns the sort key of a date: `2026-09-01`, with or without a time, `01.09.2026`, or just a time, `09:30:00`.
pub(super) fn date(text: &str) -> Option<Cow<'_, str>> {
    let bytes = text.as_bytes();
    let digits = |places: &[usize]| places.iter().all(|&place| bytes.get(place).is_some_and(u8::is_ascii_digit));
    let mark = |place: usize, marks: &[u8]| bytes.get(place).is_some_and(|byte| marks.contains(byte));
    if bytes.len() > 40 {
        return None;
    }
    let is_iso = mark(4, b"-/") && mark(7, b"-/") && digits(&[0, 1, 2, 3, 5, 6, 8, 9]);
    let is_time = bytes.len() <= 18 && mark(2, b":") && mark(5, b":") && digits(&[0, 1, 3, 4, 6, 7]);
    if is_iso || is_time {
        return Some(text.into());
    }
    let is_dotted = mark(2, b".") && mark(5, b".") && digits(&[0, 1, 3, 4, 6, 7, 8, 9]);
    let (day, month, rest) = (text.get(..2)?, text.get(3..5)?, text.get(6..)?);
    is_dotted
        .then(|| format!("{}-{month}-{day}{}", rest.get(..4).unwrap_or(rest), rest.get(4..).unwrap_or_default()).into())
}

/// Returns the words of a name in small letters: `end` and `line` of `end_line` and `endLine`.
pub(super) fn words_of(name: &str) -> Vec<String> {
    name.split(|c: char| !c.is_alphanumeric()).filter(|part| !part.is_empty()).flat_map(camel_parts).collect()
}

/// Returns whether a name ends with a word: `line`, `end_line` and `endLine`, but not `outline`.
pub(super) fn ends_with_word(name: &str, word: &str) -> bool {
    let Some(start) = name.len().checked_sub(word.len()) else { return false };
    let (Some(before), Some(end)) = (name.get(..start), name.get(start..)) else { return false };
    let is_new =
        before.is_empty() || before.ends_with(|c: char| !c.is_alphanumeric()) || end.starts_with(char::is_uppercase);
    is_new && end.eq_ignore_ascii_case(word)
}

/// Returns whether a word is a number as in JSON, or nearly.
pub(super) fn is_number(text: &str) -> bool {
    let digits = text.strip_prefix('-').unwrap_or(text);
    digits.bytes().next().is_some_and(|byte| byte.is_ascii_digit())
        && digits.bytes().all(|byte| byte.is_ascii_digit() || matches!(byte, b'.' | b'e' | b'E' | b'+' | b'-'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_and_names_are_told_apart() {
        for (text, sort, expected) in [
            ("12", ValueSyntax::Cell, Some(12.0)),
            ("-4.50", ValueSyntax::Cell, Some(-4.5)),
            ("1.234,50", ValueSyntax::Cell, Some(1_234.5)),
            ("1.234,500", ValueSyntax::Cell, Some(1_234.5)),
            ("0,125", ValueSyntax::Cell, Some(0.125)),
            ("-1,234", ValueSyntax::Cell, None),
            ("1.5e-3", ValueSyntax::Cell, Some(0.0015)),
            ("007", ValueSyntax::Cell, None),
            ("12e45", ValueSyntax::Cell, None),
            ("1.2.3", ValueSyntax::Cell, None),
            ("2021", ValueSyntax::Text, None),
            ("0.25", ValueSyntax::Text, Some(0.25)),
            ("1e400", ValueSyntax::Number, None),
        ] {
            assert_eq!(number(text, sort), expected, "{text}");
        }
    }

    #[test]
    fn dates_are_ordered() {
        assert_eq!(date("01.09.2026 10:00").as_deref(), Some("2026-09-01 10:00"));
        assert_eq!(date("2026-09-01T10:00:00Z").as_deref(), Some("2026-09-01T10:00:00Z"));
        assert_eq!(date("09:30:00.5").as_deref(), Some("09:30:00.5"));
        assert_eq!(date("äö.üä.ößäö"), None);
    }

    #[test]
    fn names_end_with_words() {
        assert!(ends_with_word("req_id", "id") && ends_with_word("endLine", "line") && ends_with_word("a.id", "id"));
        assert!(!ends_with_word("paid", "id") && !ends_with_word("outline", "line") && !ends_with_word("d", "id"));
    }
}
