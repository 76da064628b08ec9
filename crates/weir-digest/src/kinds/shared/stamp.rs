//! The time of a log line, in the formats that programs write.

/// The time of a line, and its position.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Stamp {
    pub start: usize,
    /// Where the text after it begins.
    pub end: usize,
    /// Where its own text begins, without a bracket.
    pub text_start: usize,
    pub text_end: usize,
    /// Seconds since a moment that is the same for the whole log.
    pub seconds: f64,
}

impl Stamp {
    pub(crate) fn text<'a>(&self, line: &'a str) -> &'a str {
        line.get(self.text_start..self.text_end).unwrap_or_default()
    }

    pub(crate) fn rest<'a>(&self, line: &'a str) -> &'a str {
        line.get(self.end..).unwrap_or_default()
    }
}

const MAX_WORDS_BEFORE: usize = 2;

pub(crate) fn of(line: &str) -> Option<Stamp> {
    let bytes = line.as_bytes();
    let mut at = bytes.iter().position(|byte| !byte.is_ascii_whitespace())?;
    for _ in 0..=MAX_WORDS_BEFORE {
        if let Some(stamp) = at_place(bytes, at) {
            return Some(stamp);
        }
        let word_end = at + bytes.get(at..)?.iter().position(u8::is_ascii_whitespace)?;
        // `time="…"` and `ts=…` may be anywhere near the beginning.
        if let Some(equals) = bytes.get(at..word_end)?.iter().position(|&byte| byte == b'=') {
            let value = at + equals + 1;
            let quoted = usize::from(bytes.get(value) == Some(&b'"'));
            if let Some(stamp) = at_place(bytes, value + quoted) {
                let end = stamp.end + usize::from(quoted == 1 && bytes.get(stamp.end) == Some(&b'"'));
                return Some(Stamp { start: at, end, ..stamp });
            }
        }
        at = word_end + bytes.get(word_end..)?.iter().position(|byte| !byte.is_ascii_whitespace())?;
    }
    None
}

pub(crate) fn at_start(line: &str) -> Option<Stamp> {
    at_place(line.as_bytes(), 0)
}

fn at_place(bytes: &[u8], start: usize) -> Option<Stamp> {
    let bracket = matches!(bytes.get(start), Some(b'[' | b'<' | b'('));
    let text_start = start + usize::from(bracket);
    // Reject what cannot begin a time.
    let first = *bytes.get(text_start)?;
    if !(first.is_ascii_digit() || first.is_ascii_uppercase() || (bracket && first == b' ')) {
        return None;
    }
    let mut scan = Scan { bytes, at: text_start };
    let seconds = scan.any(bracket)?;
    let text_end = scan.at;
    if bracket {
        scan.literal(match bytes.get(start) {
            Some(b'<') => b'>',
            Some(b'(') => b')',
            _ => b']',
        })?;
    }
    // `10:20:30` inside a longer word is not a time.
    if bytes.get(scan.at).is_some_and(u8::is_ascii_alphanumeric) {
        return None;
    }
    Some(Stamp { start, end: scan.at, text_start, text_end, seconds })
}

/// Parses a time from left to right.
#[derive(Clone, Copy)]
struct Scan<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl Scan<'_> {
    fn any(&mut self, bracket: bool) -> Option<f64> {
        let forms: [fn(&mut Self) -> Option<f64>; 7] = [
            Self::year_first,
            Self::month_first,
            Self::day_first,
            Self::letter_first,
            Self::month_day,
            Self::only_clock,
            Self::epoch,
        ];
        let from = self.at;
        for form in forms {
            if let Some(seconds) = form(self) {
                return Some(seconds);
            }
            self.at = from;
        }
        if bracket { self.uptime() } else { None }
    }

    /// Parses `2026-11-15 09:54:37.885 UTC`, `2026-11-15T09:54:37Z`, `2026/11/15 09:54:37`.
    fn year_first(&mut self) -> Option<f64> {
        let year = self.digits(4, 4)?;
        let separator = self.one_of(b"-/.")?;
        let month = self.digits(2, 2)?;
        self.literal(separator)?;
        let day = self.digits(2, 2)?;
        self.one_of(b"T _-:")?;
        while self.peek() == Some(b' ') || (self.peek() == Some(b'-') && self.bytes.get(self.at + 1) == Some(&b' ')) {
            self.at += 1;
        }
        let clock = self.clock()?;
        self.zone();
        Some(days(year, month, day) * 86_400.0 + clock)
    }

    /// Parses `Oct  3 00:00:12`, `Mon Nov 15 09:58:35.123 2026`, `Nov 15, 2026 9:58:35 AM`.
    fn month_first(&mut self) -> Option<f64> {
        if self.weekday() {
            self.literal(b' ')?;
        }
        let month = self.month()?;
        self.literal(b' ')?;
        self.spaces();
        let day = self.digits(1, 2)?;
        if self.peek() == Some(b',') {
            self.at += 1;
        }
        self.literal(b' ')?;
        let from = self.at;
        let mut year = self.digits(4, 4).filter(|_| self.literal(b' ').is_some());
        if year.is_none() {
            self.at = from;
        }
        let mut clock = self.clock()?;
        let after = *self;
        if year.is_some() {
            let spaced = self.literal(b' ').is_some();
            match self.one_of(b"AP").filter(|_| spaced && self.literal(b'M').is_some()) {
                // The first hour of each half of the day is called 12.
                Some(half) => clock = clock % 43_200.0 + if half == b'P' { 43_200.0 } else { 0.0 },
                None => *self = after,
            }
        } else {
            year = self.literal(b' ').and_then(|()| self.digits(4, 4)).filter(|_| !self.more());
            if year.is_none() {
                *self = after;
            }
        }
        Some(days(year.unwrap_or(2000), month, day) * 86_400.0 + clock)
    }

    /// Parses `15/Nov/2026:09:58:35 +0000`, `15-Nov-2026 09:58:35.123`, `15 Nov 2026 09:58:35`.
    fn day_first(&mut self) -> Option<f64> {
        let day = self.digits(1, 2)?;
        let separator = self.one_of(b"/- ")?;
        let month = self.month()?;
        self.literal(separator)?;
        let year = self.digits(4, 4)?;
        self.one_of(b": T")?;
        let clock = self.clock()?;
        self.zone();
        Some(days(year, month, day) * 86_400.0 + clock)
    }

    /// Parses `E1115 09:58:35.123456`.
    fn letter_first(&mut self) -> Option<f64> {
        self.one_of(b"IWEFD")?;
        let month = self.digits(2, 2)?;
        let day = self.digits(2, 2)?;
        self.literal(b' ')?;
        Some(days(2000, month, day) * 86_400.0 + self.clock()?)
    }

    /// Parses `11-15 09:58:35.123`.
    fn month_day(&mut self) -> Option<f64> {
        let month = self.digits(2, 2)?;
        self.one_of(b"-/")?;
        let day = self.digits(2, 2)?;
        self.literal(b' ')?;
        Some(days(2000, month, day) * 86_400.0 + self.clock()?)
    }

    fn only_clock(&mut self) -> Option<f64> {
        let clock = self.clock()?;
        self.zone();
        Some(clock)
    }

    /// Parses `1763200715.123`, at the beginning of a line or after a sign: elsewhere, any number may be this long.
    fn epoch(&mut self) -> Option<f64> {
        let from = self.at;
        if from.checked_sub(1).and_then(|at| self.bytes.get(at)).is_some_and(u8::is_ascii_whitespace) {
            return None;
        }
        self.digits(10, 13)?;
        self.fraction();
        let text = std::str::from_utf8(self.bytes.get(from..self.at)?).ok()?;
        let seconds: f64 = text.parse().ok()?;
        // From 2001 to 2033, in seconds or in milliseconds.
        match seconds {
            1.0e9..2.0e9 => Some(seconds),
            1.0e12..2.0e12 => Some(seconds / 1_000.0),
            _ => None,
        }
    }

    /// Parses the kernel's seconds since boot, which occur only in brackets: `   23.700000`.
    fn uptime(&mut self) -> Option<f64> {
        self.spaces();
        let whole = self.digits(1, 9)?;
        let from = self.at;
        self.fraction();
        (self.at - from == 7).then_some(f64::from(whole))
    }

    /// Parses `09:58:35.123`.
    fn clock(&mut self) -> Option<f64> {
        let hours = self.digits(1, 2).filter(|&hours| hours < 25)?;
        self.literal(b':')?;
        let minutes = self.digits(2, 2).filter(|&minutes| minutes < 60)?;
        self.literal(b':')?;
        let seconds = self.digits(2, 2).filter(|&seconds| seconds < 62)?;
        let part = self.fraction();
        Some(f64::from(hours * 3_600 + minutes * 60 + seconds) + part)
    }

    fn fraction(&mut self) -> f64 {
        if !matches!(self.peek(), Some(b'.' | b',')) || !self.bytes.get(self.at + 1).is_some_and(u8::is_ascii_digit) {
            return 0.0;
        }
        self.at += 1;
        let (mut value, mut unit) = (0.0, 0.1);
        while let Some(digit) = self.peek().filter(u8::is_ascii_digit) {
            value += f64::from(digit - b'0') * unit;
            unit /= 10.0;
            self.at += 1;
        }
        value
    }

    /// Skips `Z`, `+01:00`, ` +0000` or ` UTC`, if present.
    fn zone(&mut self) {
        let from = *self;
        if self.literal(b'Z').is_some() {
            return;
        }
        let spaced = self.literal(b' ').is_some();
        if matches!(self.peek(), Some(b'+' | b'-')) {
            self.at += 1;
            let read = self.digits(2, 2).is_some() && {
                let _colon = self.literal(b':');
                self.digits(2, 2).is_some()
            };
            if read && !self.more() {
                return;
            }
        } else if spaced {
            for name in ["UTC", "GMT", "CET", "CEST", "EST", "EDT", "PST", "PDT", "BST", "JST", "IST"] {
                if self.bytes.get(self.at..).is_some_and(|rest| rest.starts_with(name.as_bytes())) {
                    self.at += name.len();
                    if !self.more() {
                        return;
                    }
                    self.at -= name.len();
                }
            }
        }
        *self = from;
    }

    fn more(&self) -> bool {
        self.peek().is_some_and(|byte| byte.is_ascii_alphanumeric())
    }

    fn weekday(&mut self) -> bool {
        let from = self.bytes.get(self.at..self.at.saturating_add(3)).unwrap_or_default();
        let known = [b"Mon", b"Tue", b"Wed", b"Thu", b"Fri", b"Sat", b"Sun"].iter().any(|name| name.as_slice() == from);
        if known {
            self.at += 3;
        }
        known
    }

    fn month(&mut self) -> Option<u32> {
        let name = self.bytes.get(self.at..self.at.checked_add(3)?)?;
        let names = [b"Jan", b"Feb", b"Mar", b"Apr", b"May", b"Jun", b"Jul", b"Aug", b"Sep", b"Oct", b"Nov", b"Dec"];
        let place = names.iter().position(|known| known.as_slice() == name)?;
        self.at += 3;
        u32::try_from(place + 1).ok()
    }

    fn peek(&self) -> Option<u8> {
        self.bytes.get(self.at).copied()
    }

    fn spaces(&mut self) {
        while self.peek() == Some(b' ') {
            self.at += 1;
        }
    }

    fn literal(&mut self, byte: u8) -> Option<()> {
        (self.peek()? == byte).then(|| self.at += 1)
    }

    fn one_of(&mut self, set: &[u8]) -> Option<u8> {
        let byte = self.peek().filter(|byte| set.contains(byte))?;
        self.at += 1;
        Some(byte)
    }

    /// Parses a number of `least` to `most` digits.
    fn digits(&mut self, least: usize, most: usize) -> Option<u32> {
        let mut value: u32 = 0;
        let mut count = 0;
        while count < most
            && let Some(digit) = self.peek().filter(u8::is_ascii_digit)
        {
            value = value.saturating_mul(10).saturating_add(u32::from(digit - b'0'));
            self.at += 1;
            count += 1;
        }
        (count >= least).then_some(value)
    }
}

/// Returns the days since a fixed day, by the civil calendar.
fn days(year: u32, month: u32, day: u32) -> f64 {
    let (year, month, day) = (i64::from(year), i64::from(month), i64::from(day));
    let year = if month <= 2 { year - 1 } else { year };
    let shifted = (month + 9) % 12;
    (365 * year + year / 4 - year / 100 + year / 400 + (153 * shifted + 2) / 5 + day) as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_found_in_many_forms() {
        for (line, text) in [
            ("2026-11-15 09:54:37.885 UTC [10795] LOG:  x", "2026-11-15 09:54:37.885 UTC"),
            ("2026-11-15T09:54:37.1234567Z x", "2026-11-15T09:54:37.1234567Z"),
            ("[2026-11-15 09:54:37,885] x", "2026-11-15 09:54:37,885"),
            ("2026/11/15 09:58:35 [error] 12#12: x", "2026/11/15 09:58:35"),
            ("Oct  3 00:00:12 gw dhcpd[812]: x", "Oct  3 00:00:12"),
            ("[Mon Nov 15 09:58:35.123456 2026] [core:error] x", "Mon Nov 15 09:58:35.123456 2026"),
            ("[15/Nov/2026:09:58:35 +0000] x", "15/Nov/2026:09:58:35 +0000"),
            ("15-Nov-2026 09:58:35.123 INFO x", "15-Nov-2026 09:58:35.123"),
            ("E1115 09:58:35.123456 1 x.go:1] y", "E1115 09:58:35.123456"),
            ("11-15 09:58:35.123  1  2 I x", "11-15 09:58:35.123"),
            ("09:58:35.123 [main] INFO x", "09:58:35.123"),
            ("[   23.700000] wan0: x", "   23.700000"),
            ("1763200715.123 x", "1763200715.123"),
            ("time=\"2026-11-15T09:54:37Z\" level=info", "2026-11-15T09:54:37Z"),
            ("level=info ts=2026-11-15T09:54:37.1Z x", "2026-11-15T09:54:37.1Z"),
            ("INFO 2026-11-15 09:54:37 x", "2026-11-15 09:54:37"),
            ("Nov 15, 2026 9:58:35 AM org.x", "Nov 15, 2026 9:58:35 AM"),
        ] {
            assert_eq!(of(line).map(|stamp| stamp.text(line)), Some(text), "{line}");
        }
        for line in ["hello world", "12:34 x", "2026 files", "a b c 10:20:30 d", "1234567890123456 x", "May I ask 12"] {
            assert_eq!(of(line), None, "{line}");
        }
    }

    #[test]
    fn seconds_go_on_over_days() {
        let seconds = |line| of(line).unwrap().seconds;
        assert_eq!(seconds("2026-03-01 00:00:01 x") - seconds("2026-02-28 23:59:59 x"), 2.0);
        assert_eq!(seconds("2024-03-01 00:00:00 x") - seconds("2024-02-28 00:00:00 x"), 172_800.0);
        assert_eq!(seconds("Nov 16, 2026 12:00:01 AM x") - seconds("Nov 15, 2026 11:59:59 PM x"), 2.0);
        assert_eq!(seconds("[Fri Jan 01 00:00:01 2027] x") - seconds("[Thu Dec 31 23:59:59 2026] x"), 2.0);
    }
}
