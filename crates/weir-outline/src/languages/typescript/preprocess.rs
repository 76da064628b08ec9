//! Replaces syntax that the grammar cannot read. Invariant: the number of bytes and the newlines stay the same, so
//! every position stays valid; names and signatures are taken from the file's own text.

use std::ops::Range;

/// Maximum length of an `import("…")` to replace, in bytes.
const MAX_IMPORT_BYTES: usize = 300;

/// Returns a text that the grammar can read, or `None` if nothing has to change.
pub(super) fn preprocess(text: &str) -> Option<String> {
    let mut preprocessed = text.as_bytes().to_vec();
    imports(text, &mut preprocessed);
    variance(text, &mut preprocessed);
    words(text, &mut preprocessed);
    lines(text, &mut preprocessed);
    if preprocessed == text.as_bytes() {
        return None;
    }
    String::from_utf8(preprocessed).ok()
}

/// Turns a range into one name by replacing everything but letters and digits.
fn name_over(preprocessed: &mut [u8], range: Range<usize>) {
    for byte in preprocessed.get_mut(range).unwrap_or_default() {
        if !byte.is_ascii_alphanumeric() {
            *byte = b'_';
        }
    }
}

fn write_over(preprocessed: &mut [u8], at: usize, with: u8) {
    if let Some(byte) = preprocessed.get_mut(at) {
        *byte = with;
    }
}

/// Turns `import("x")` in `import("x").Y<Z>` into a name, since the grammar only allows type arguments after names.
fn imports(text: &str, preprocessed: &mut [u8]) {
    for (at, _) in text.match_indices("import(") {
        // Module names are short, and searching to the end of the file for each would be slow.
        let Some(length) = text.as_bytes()[at..].iter().take(MAX_IMPORT_BYTES).position(|byte| *byte == b')') else {
            continue;
        };
        let call = &text[at..at + length];
        let argument = call["import(".len()..].trim();
        let is_string = argument.len() > 1 && argument.starts_with(['"', '\'']) && argument.ends_with(['"', '\'']);
        let goes_on = text[at + length + 1..].starts_with('.');
        if is_string && goes_on && call.is_ascii() && !call.contains('\n') {
            name_over(preprocessed, at..at + length + 1);
        }
    }
}

/// Turns `in T`, `out T` and `in out T` as type parameters on one line into one name each.
fn variance(text: &str, preprocessed: &mut [u8]) {
    for word in ["in ", "out "] {
        for (at, _) in text.match_indices(word) {
            if text[..at].trim_end().ends_with(['<', ',']) {
                one_parameter(text, at, preprocessed);
            }
        }
    }
}

/// Turns a type parameter and the words before it into one name.
fn one_parameter(text: &str, at: usize, preprocessed: &mut [u8]) {
    let rest = &text[at..];
    let words = ["in out ", "in ", "out "].into_iter().find(|words| rest.starts_with(words)).unwrap_or_default();
    let after = &rest[words.len()..];
    // `import { in as x }`
    let is_name = after.starts_with(|c: char| c.is_alphabetic() || c == '_' || c == '$') && !after.starts_with("as ");
    if is_name {
        name_over(preprocessed, at..at + words.len());
    }
}

/// Handles words that are names where the grammar takes them for keywords.
fn words(text: &str, preprocessed: &mut [u8]) {
    let places: [(&str, &[char], &[&str]); 2] =
        [("type", &['<', ','], &["extends ", ">", ",", "="]), ("using", &['(', ','], &[":", "?:", ",", ")"])];
    for (word, before, after) in places {
        for (at, _) in text.match_indices(word) {
            let rest = text[at + word.len()..].trim_start();
            if text[..at].trim_end().ends_with(before) && after.iter().any(|next| rest.starts_with(next)) {
                write_over(preprocessed, at, b'T');
            }
        }
    }
}

/// Handles syntax that depends on the line before. Members of an interface may be separated by a newline alone, even
/// before a line that could continue the previous one; a `;` in the indentation makes clear that it does not.
fn lines(text: &str, preprocessed: &mut [u8]) {
    let mut at = 0;
    let mut last = '{';
    for line in text.split_inclusive('\n') {
        let code = line.trim();
        let begin = at + line.len() - line.trim_start().len();
        let ended = last.is_alphanumeric() || "_$)]}>\"'`".contains(last);
        if begin > at && ended && could_continue(code) {
            write_over(preprocessed, begin - 1, b';');
        }
        if matches!(last, '<' | ',') && (code.starts_with("in ") || code.starts_with("out ")) {
            one_parameter(text, begin, preprocessed);
        }
        if code.starts_with("global {") {
            write_over(preprocessed, begin + "global".len(), b';');
        }
        if code.starts_with("abstract?:") || code.starts_with("abstract:") {
            write_over(preprocessed, begin, b'A');
        }
        // The grammar does not support this; the signature is completed later.
        if code.starts_with("export type *") {
            preprocessed.get_mut(begin + "export ".len()..begin + "export type".len()).unwrap_or_default().fill(b' ');
        }
        at += line.len();
        let is_comment = ["//", "/*", "*"].iter().any(|mark| code.starts_with(mark));
        let code = code.split(" //").next().unwrap_or(code).trim_end();
        if let Some(end) = code.chars().next_back().filter(|_| !is_comment) {
            // A line that ends with an arrow continues.
            last = if code.ends_with("=>") { '=' } else { end };
        }
    }
}

/// Returns whether a line that is a member of a type could be read as a continuation of the previous line.
fn could_continue(code: &str) -> bool {
    let is_index = || {
        let inside = code.strip_prefix('[').and_then(|rest| rest.split_once(']'));
        inside.is_some_and(|(_, after)| after.starts_with([':', '?', '(']))
    };
    let is_operator = || ["<<", "<=", "< ", "</"].iter().any(|operator| code.starts_with(operator));
    let is_call = code.starts_with('(') || code.starts_with('<') && !is_operator();
    is_call || is_index() || ["in:", "in?:", "instanceof:", "instanceof?:"].iter().any(|name| code.starts_with(name))
}

#[cfg(test)]
mod tests {
    use super::preprocess;

    #[test]
    fn only_a_member_is_separated_from_the_line_before() {
        let members = "interface A {\n  a: string\n  <T>(b: T): void\n}\n";
        assert_eq!(preprocess(members).as_deref(), Some("interface A {\n  a: string\n ;<T>(b: T): void\n}\n"));
        for comparison in ["return (\n    a\n    < b\n);\n", "return (\n    a\n    <= b\n);\n"] {
            assert_eq!(preprocess(comparison), None);
        }
    }
}
