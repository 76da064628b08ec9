//! Parses JSON as clients write it.
//!
//! JavaScript counts text in halves of characters, so a client that cuts an output at a length may leave half of one.
//! It then writes an escape sequence that stands for no character, and a strict parser rejects the whole payload.

use serde_json::Value;

/// The escape sequence that takes the place of half a character.
const LOST: &str = "\\ufffd";
/// The length of an escape sequence that names a UTF-16 code unit.
const UNIT_BYTES: usize = LOST.len();

/// Parses JSON. Half a character becomes the replacement character, as does a byte that is not UTF-8.
pub fn parse(json: &[u8]) -> serde_json::Result<Value> {
    serde_json::from_slice(json).or_else(|error| serde_json::from_str(&repaired(json)).map_err(|_| error))
}

/// Returns JSON with a replacement character for each half of a character and for each byte that is not UTF-8.
pub fn repaired(json: &[u8]) -> String {
    let json = String::from_utf8_lossy(json);
    let mut repaired = String::with_capacity(json.len());
    let mut rest: &str = &json;
    while let Some(at) = rest.find('\\') {
        repaired.push_str(&rest[..at]);
        rest = &rest[at..];
        let (length, is_whole) = escape(rest);
        repaired.push_str(if is_whole { &rest[..length] } else { LOST });
        rest = &rest[length..];
    }
    repaired.push_str(rest);
    repaired
}

/// Returns the length of the escape sequence that a text begins with, and whether it stands for a whole character.
fn escape(text: &str) -> (usize, bool) {
    match (unit(text), text.get(UNIT_BYTES..).and_then(unit)) {
        (Some(0xD800..=0xDBFF), Some(0xDC00..=0xDFFF)) => (2 * UNIT_BYTES, true),
        (Some(0xD800..=0xDFFF), _) => (UNIT_BYTES, false),
        _ => (text.chars().take(2).map(char::len_utf8).sum(), true),
    }
}

/// Returns the UTF-16 code unit that an escape sequence at the beginning of a text names.
fn unit(text: &str) -> Option<u16> {
    u16::from_str_radix(text.strip_prefix("\\u")?.get(..4)?, 16).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde_json::json;

    #[test]
    fn half_a_character_does_not_cost_the_rest() {
        for (text, expected) in [
            (r"a\ud83d", "a\u{fffd}"),
            (r"\ud83d\n\\\udc00b", "\u{fffd}\n\\\u{fffd}b"),
            (r"\ud83d\ud83d\ude00\ude00", "\u{fffd}\u{1f600}\u{fffd}"),
            (r"\\ud83d \ud83dé\u00e9", "\\ud83d \u{fffd}éé"),
        ] {
            assert_eq!(parse(format!("[\"{text}\"]").as_bytes()).unwrap(), json!([expected]), "{text}");
        }
        assert_eq!(parse(b"[\"a\xffb\"]").unwrap(), json!(["a\u{fffd}b"]));
    }

    #[test]
    fn what_is_not_json_stays_an_error() {
        for text in ["", "{", "\\", "\"\\u", "\"\\ud83d", "[\"\\ud83d\",]", "\"\\x\""] {
            assert!(parse(text.as_bytes()).is_err(), "{text}");
        }
    }

    proptest! {
        #[test]
        fn whole_characters_stay_as_they_are(text in any::<String>()) {
            let json = json!([text]).to_string();
            prop_assert_eq!(repaired(json.as_bytes()), json);
        }
    }
}
