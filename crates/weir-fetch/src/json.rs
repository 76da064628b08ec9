//! Splits JSON into lines, so that a part of it can be found and shown without the rest.
//!
//! Invariants: every value is copied from the text unchanged, to the last digit; memory and output grow linearly with
//! the text.

use serde::de::IgnoredAny;

/// The maximum length of a value that stays on one line.
const MAX_INLINE_BYTES: usize = 100;
/// The maximum depth of indentation, so that depth does not multiply the length.
const MAX_INDENT_DEPTH: usize = 12;

/// Returns the same JSON with long values split over lines, or `None` if it is not JSON.
pub(crate) fn by_lines(text: &str) -> Option<String> {
    serde_json::from_str::<IgnoredAny>(text).ok()?;
    let lengths = lengths(text);
    let mut out = String::with_capacity(text.len() + text.len() / 4);
    let mut opened = lengths.iter();
    // The current depth, and the depth from which on everything stays on one line.
    let (mut depth, mut inline_since) = (0_usize, None);
    for token in tokens(text) {
        let broken = inline_since.is_none();
        match token {
            "{" | "[" => {
                out.push_str(token);
                depth += 1;
                if opened.next().is_some_and(|length| *length <= MAX_INLINE_BYTES) && broken {
                    inline_since = Some(depth);
                }
                if inline_since.is_none() {
                    new_line(&mut out, depth);
                }
            }
            "}" | "]" => {
                depth = depth.saturating_sub(1);
                if broken {
                    new_line(&mut out, depth);
                }
                out.push_str(token);
                if inline_since.is_some_and(|since| depth < since) {
                    inline_since = None;
                }
            }
            "," if broken => {
                out.push(',');
                new_line(&mut out, depth);
            }
            "," => out.push_str(", "),
            ":" => out.push_str(": "),
            value => out.push_str(value),
        }
    }
    out.push('\n');
    Some(out)
}

fn new_line(out: &mut String, depth: usize) {
    out.push('\n');
    for _ in 0..depth.min(MAX_INDENT_DEPTH) {
        out.push_str("  ");
    }
}

/// Returns the length of each list and object without its spaces, in the order in which they open.
fn lengths(text: &str) -> Vec<usize> {
    let (mut lengths, mut open, mut at) = (Vec::new(), Vec::new(), 0);
    for token in tokens(text) {
        at += token.len();
        match token {
            "{" | "[" => {
                open.push((lengths.len(), at));
                lengths.push(0);
            }
            "}" | "]" => {
                if let Some((place, start)) = open.pop()
                    && let Some(length) = lengths.get_mut(place)
                {
                    *length = at - start;
                }
            }
            _ => {}
        }
    }
    lengths
}

/// Splits JSON into brackets, commas, colons and the values between them.
fn tokens(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = text;
    std::iter::from_fn(move || {
        rest = rest.trim_start_matches([' ', '\n', '\r', '\t']);
        let first = *rest.as_bytes().first()?;
        let end = match first {
            b'{' | b'}' | b'[' | b']' | b',' | b':' => 1,
            b'"' => end_of_string(rest.as_bytes()),
            _ => rest.find([',', '}', ']', ' ', '\n', '\r', '\t']).unwrap_or(rest.len()),
        };
        let (token, after) = rest.split_at_checked(end)?;
        rest = after;
        Some(token)
    })
}

fn end_of_string(bytes: &[u8]) -> usize {
    let mut escaped = false;
    for (at, byte) in bytes.iter().enumerate().skip(1) {
        match byte {
            _ if escaped => escaped = false,
            b'\\' => escaped = true,
            b'"' => return at + 1,
            _ => {}
        }
    }
    bytes.len()
}

#[cfg(test)]
mod tests {
    use expect_test::expect;
    use proptest::prelude::*;
    use weir_check::Checked;

    use super::*;

    fn check(text: &str) -> Checked {
        Checked(by_lines(text).unwrap_or_default())
    }

    #[test]
    fn short_values_stay_together_and_long_ones_do_not() {
        check(r#"{"a":[1,2.50,{"b":"x, ] y"}],"e":{}}"#).shows(&expect![[r#"
            {"a": [1, 2.50, {"b": "x, ] y"}], "e": {}}
        "#]]);
        let long = "w".repeat(90);
        check(&format!(r#"{{"name":"{long}","list":[{{"id":1}},{{"id":2}}],"more":["{long}",[]]}}"#)).shows(&expect![
            [r#"
            {
              "name": "wwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwww",
              "list": [{"id": 1}, {"id": 2}],
              "more": ["wwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwww", []]
            }
        "#]
        ]);
    }

    #[test]
    fn what_is_no_json_stays() {
        assert_eq!(by_lines("{\"a\":"), None);
        assert_eq!(by_lines(""), None);
    }

    #[test]
    fn depth_does_not_multiply_the_length() {
        let text = format!("{}{}", "[".repeat(100_000), "]".repeat(100_000));
        // The parser may refuse this depth; in either case it terminates.
        if let Some(lines) = by_lines(&text) {
            assert!(lines.len() < text.len() * 30);
        }
    }

    proptest! {
        #[test]
        fn the_values_stay_what_they_were(numbers in prop::collection::vec("[a-z\"\\\\{}\\[\\],: ]{0,40}", 0..20)) {
            let value = serde_json::json!({ "list": numbers, "nested": [[numbers.clone()], {}, [], null, -1.5e3] });
            let lines = by_lines(&value.to_string()).unwrap();
            prop_assert_eq!(serde_json::from_str::<serde_json::Value>(&lines).unwrap(), value);
        }
    }
}
