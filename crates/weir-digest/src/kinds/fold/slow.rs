//! Lines that report a long duration.

use crate::Item;
use crate::text::clip;

const MAX_LINES: usize = 4;

/// The slowest operations that lines report.
#[derive(Default)]
pub(super) struct SlowOperations {
    /// The number of lines that reported a duration, and the sum in milliseconds.
    count: u64,
    sum: f64,
    kept: Vec<SlowOperation>,
}

struct SlowOperation {
    took: f64,
    number: u64,
    text: String,
    /// The hash of the text without its digits: of similar lines, the slowest is enough.
    alike: u64,
}

impl SlowOperations {
    /// Takes the longest duration in a line.
    pub(super) fn add(&mut self, number: u64, text: &str) {
        let Some(took) = took(text) else { return };
        self.count += 1;
        self.sum += took;
        if self.kept.len() >= MAX_LINES && self.kept.last().is_some_and(|last| took <= last.took) {
            return;
        }
        let alike = text
            .bytes()
            .filter(|byte| !byte.is_ascii_digit())
            .fold(0, |hash: u64, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3).rotate_left(5));
        if let Some(known) = self.kept.iter_mut().find(|kept| kept.alike == alike) {
            if took > known.took {
                *known = SlowOperation { took, number, text: clip(text, 240), alike };
            }
        } else {
            self.kept.push(SlowOperation { took, number, text: clip(text, 240), alike });
        }
        self.kept.sort_by(|one, two| two.took.total_cmp(&one.took));
        self.kept.truncate(MAX_LINES);
    }

    /// Returns those that took far longer than usual, the longest first.
    pub(super) fn items(self) -> Vec<Item> {
        let mean = self.sum / self.count.max(1) as f64;
        let far = |took: f64| took > mean * 3.0 && took >= 100.0;
        let kept = self.kept.into_iter().filter(|slow| far(slow.took));
        kept.map(|slow| Item::at(slow.number, slow.text)).collect()
    }
}

/// Returns the longest duration in a line, in milliseconds. A planned one does not count: `retry in 600 s`.
fn took(text: &str) -> Option<f64> {
    let bytes = text.as_bytes();
    let end = bytes.len().min(400);
    let mut longest: Option<f64> = None;
    let mut at = 0;
    while at < end {
        if !bytes[at].is_ascii_digit() {
            at += 1;
            continue;
        }
        let start = at;
        while at < bytes.len() && (bytes[at].is_ascii_digit() || bytes[at] == b'.') {
            at += 1;
        }
        let begins = start == 0 || matches!(bytes[start - 1], b' ' | b'=' | b'(' | b':' | b'[' | b',');
        let Some(unit) = unit(bytes.get(at..).unwrap_or_default()).filter(|_| begins) else { continue };
        let Some(number) = text.get(start..at).and_then(|digits| digits.parse::<f64>().ok()) else { continue };
        if is_planned(text.get(..start).unwrap_or_default()) {
            continue;
        }
        let took = number * unit;
        if longest.is_none_or(|longest| took > longest) {
            longest = Some(took);
        }
    }
    longest
}

/// Returns the milliseconds of the unit at the beginning of a text, after an optional space.
fn unit(rest: &[u8]) -> Option<f64> {
    let rest = rest.strip_prefix(b" ").unwrap_or(rest);
    let length = rest.iter().position(|byte| !byte.is_ascii_alphabetic()).unwrap_or(rest.len());
    Some(match rest.get(..length)? {
        b"ms" | b"msec" | b"millis" => 1.0,
        b"s" | b"sec" | b"secs" | b"seconds" | b"second" => 1_000.0,
        b"min" | b"minutes" | b"minute" => 60_000.0,
        _ => return None,
    })
}

fn is_planned(before: &str) -> bool {
    let mut words = before.trim_end_matches(['=', ':', '(', ' ', '[']).rsplit([' ', '_', '-', '.', '(', ',']).take(3);
    words.any(|word| {
        let planned =
            ["retry", "retrying", "timeout", "every", "interval", "ttl", "expires", "wait", "waiting", "within"];
        planned.iter().any(|known| known.eq_ignore_ascii_case(word)) || word.eq_ignore_ascii_case("max")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_longest_time_of_a_line_is_found() {
        for (text, expected) in [
            ("duration: 442.596 ms  statement: select 1", Some(442.596)),
            ("slow query took 18733 ms", Some(18_733.0)),
            ("done in 2.5s", Some(2_500.0)),
            ("status=200 took=12ms total=30ms", Some(30.0)),
            ("will retry in 600 s", None),
            ("timeout=30s", None),
            ("v1.2s3", None),
            ("12 items", None),
        ] {
            assert_eq!(took(text), expected, "{text}");
        }
    }
}
