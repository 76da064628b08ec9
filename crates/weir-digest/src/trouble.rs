//! Decides whether a line reports trouble, whatever program printed it.
//!
//! A level that the line states wins: `INFO retry failed` is not an error. Without a level, the line must begin with a
//! verdict, after what programs put in front of one: a time, a place in a file, their own name. The same words later in
//! the line are source text, prose or a table cell, and are ignored.

mod verdict;

use crate::kinds::stamp;

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Trouble {
    Error,
    Warning,
}

/// Returns the verdict of a line. `0 errors` is not one, and neither is a numbered line of source text.
pub(crate) fn of(line: &str) -> Option<Trouble> {
    judge(line, level(line), stamp::of(line).map_or(line, |stamp| stamp.rest(line)))
}

/// Like [`of`], for a line whose level, and whose text after its time, are known.
pub(crate) fn judge(line: &str, level: Option<Level>, rest: &str) -> Option<Trouble> {
    if verdict::is_excerpt(line) {
        return None;
    }
    match level {
        Some(level) => level.trouble(),
        None => verdict::of(rest),
    }
}

/// A level as a line states it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Level(u8);

/// The names of levels, worst first, and which of them are trouble. Case does not matter.
#[rustfmt::skip]
const LEVELS: [(&str, Option<Trouble>); 22] = [
    ("EMERGENCY", Some(Trouble::Error)), ("EMERG", Some(Trouble::Error)), ("PANIC", Some(Trouble::Error)),
    ("FATAL", Some(Trouble::Error)), ("ALERT", Some(Trouble::Error)), ("CRITICAL", Some(Trouble::Error)),
    ("CRIT", Some(Trouble::Error)), ("SEVERE", Some(Trouble::Error)), ("ERROR", Some(Trouble::Error)),
    ("ERR", Some(Trouble::Error)), ("WARNING", Some(Trouble::Warning)), ("WARN", Some(Trouble::Warning)),
    ("NOTICE", None), ("INFO", None), ("CONFIG", None), ("LOG", None), ("STATEMENT", None), ("DEBUG", None),
    ("VERBOSE", None), ("FINE", None), ("TRACE", None), ("DETAIL", None),
];

/// How far into a line, in bytes, a level may be.
const MAX_LEVEL_OFFSET: usize = 160;
/// How many words are searched for a level.
const MAX_WORDS: usize = 9;

impl Level {
    pub(crate) const COUNT: usize = LEVELS.len();

    /// Returns its rank among all levels, the worst first.
    pub(crate) fn place(self) -> usize {
        usize::from(self.0)
    }

    pub(crate) fn name(place: usize) -> &'static str {
        LEVELS.get(place).map_or("", |level| level.0)
    }

    fn trouble(self) -> Option<Trouble> {
        LEVELS.get(self.place()).and_then(|level| level.1)
    }

    pub(crate) fn named(word: &str) -> Option<Self> {
        // Most words are rejected here, because no level begins with their first letter.
        let first = word.as_bytes().first()?.to_ascii_uppercase();
        if word.len() > 9 || !b"EPFACSWNILDVTER".contains(&first) {
            return None;
        }
        let place = LEVELS.iter().position(|level| level.0.eq_ignore_ascii_case(word))?;
        Some(Self(u8::try_from(place).ok()?))
    }
}

/// Returns the level that a line states: `ERROR`, `[warn]`, `level=error`, `"level":"error"`, `E0102 15:04:05`.
pub(crate) fn level(line: &str) -> Option<Level> {
    let head = &line[..line.floor_char_boundary(MAX_LEVEL_OFFSET)];
    if let Some(level) = by_letter(head) {
        return Some(level);
    }
    let mut at_start = true;
    let (mut plain, mut timed) = (0, false);
    let mut before = "";
    for word in head.split_ascii_whitespace().take(MAX_WORDS) {
        if let Some(level) = in_word(word, at_start) {
            return Some(level);
        }
        // After a time, the bare word is a level: `05:00:47.928Z error order failed`, `03:02:40 web-01 error lost`.
        timed |= before.contains(':') && before.ends_with(|c: char| c.is_ascii_digit() || c == 'Z');
        if timed && at_start && is_plain(word) && !is_set_in(head, word) {
            return Level::named(word);
        }
        before = word;
        // A time or a name in brackets does not end the beginning of the line.
        at_start &= word.bytes().any(|byte| byte.is_ascii_digit()) || word.starts_with('[') || word.ends_with(':');
        // After the words of a sentence, the name of a level is part of that sentence.
        plain += usize::from(word.len() > 3 && word.bytes().all(|byte| byte.is_ascii_lowercase()));
        if plain > 1 {
            return None;
        }
    }
    if head.starts_with('{') { by_field(line) } else { None }
}

/// Returns whether a word is the title of something: after several spaces, or alone.
fn is_set_in(head: &str, word: &str) -> bool {
    let before = head.split_once(word).map_or("", |(before, _)| before);
    before.ends_with("   ") || head.trim_end().ends_with(word)
}

fn is_plain(word: &str) -> bool {
    ["error", "warn", "warning", "info", "debug", "fatal", "critical", "trace", "notice"].contains(&word)
}

/// Recognises levels of one letter: before the date in glog and klog, in brackets or before a slash in logcat and
/// others.
fn by_letter(head: &str) -> Option<Level> {
    let letter = match head.as_bytes() {
        [letter, b'0' | b'1', rest @ ..]
            if rest.len() > 10 && rest[..3].iter().all(u8::is_ascii_digit) && rest[3] == b' ' =>
        {
            letter
        }
        [b'[', letter, b']', ..] => letter,
        [letter, b'/', next, ..] if next.is_ascii_uppercase() => letter,
        _ => return None,
    };
    Level::named(match letter {
        b'F' => "FATAL",
        b'E' => "ERROR",
        b'W' => "WARN",
        b'I' => "INFO",
        b'D' => "DEBUG",
        b'V' => "VERBOSE",
        _ => return None,
    })
}

fn in_word(word: &str, at_start: bool) -> Option<Level> {
    if let Some((key, value)) = word.split_once('=')
        && matches!(key.trim_start_matches(['[', '{', ',']), "level" | "lvl" | "severity" | "log.level" | "loglevel")
    {
        return Level::named(value.trim_matches(|c: char| !c.is_ascii_alphabetic()));
    }
    let bare = word.trim_matches(|c: char| !c.is_ascii_alphabetic());
    if bare.len() < 3 {
        return None;
    }
    if let Some(level) = Level::named(bare) {
        let shouted = bare.bytes().all(|byte| byte.is_ascii_uppercase());
        let enclosed = word.starts_with(['[', '<', '(', '|']) && word.ends_with([']', '>', ')', '|', ':']);
        let announced = at_start && word.len() == bare.len() + 1 && word.ends_with(':');
        let named = !matches!(Level::name(level.place()), "LOG" | "STATEMENT" | "DETAIL" | "CONFIG" | "FINE");
        let stated = (shouted && (named || word.ends_with(':'))) || enclosed && named || announced && named;
        // `errors: 0` and `ERROR_COUNT` are not levels, and neither is `ERROR` as a path or a name.
        return (stated && !word.contains('/')).then_some(level);
    }
    // Python's default and Windows tools glue the level to a name: `ERROR:root:message`.
    let (first, rest) = word.trim_start_matches('[').split_once(':')?;
    let shouted = first.len() >= 4 && first.bytes().all(|byte| byte.is_ascii_uppercase());
    if shouted && !rest.is_empty() { Level::named(first) } else { None }
}

fn by_field(line: &str) -> Option<Level> {
    let head = &line[..line.floor_char_boundary(1_000)];
    for key in ["\"level\":", "\"severity\":", "\"lvl\":", "\"log.level\":", "\"levelname\":"] {
        let Some(at) = head.find(key) else { continue };
        let value = head[at + key.len()..].trim_start();
        if let Some(text) = value.strip_prefix('"') {
            return Level::named(text.split('"').next().unwrap_or_default());
        }
        return Level::named(match crate::text::number(value)?.0 {
            60.. => "FATAL",
            50.. => "ERROR",
            40.. => "WARN",
            30.. => "INFO",
            _ => "DEBUG",
        });
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_are_told_by_levels_and_words() {
        let errors = [
            "2026-09-02 00:35:43,001 ERROR    billing.db [MainThread] lost",
            "2026/11/15 09:58:35 [error] 12#12: *1 connect() failed (111: Connection refused)",
            "level=error msg=\"no route\"",
            "time=2026-01-01T00:00:00Z lvl=crit msg=x",
            "{\"time\":\"…\",\"level\":\"error\",\"msg\":\"x\"}",
            "{\"level\":50,\"msg\":\"x\"}",
            "E0102 15:04:05.123456       1 reflector.go:138] x",
            "ERROR:root:it broke",
            "2025-03-03T05:00:47.928Z error order 7036 failed",
            "SEVERE: Servlet threw",
            "2026-11-15 09:54:47.1 UTC [1] shop@shop FATAL:  remaining connection slots are reserved",
            "Oct  3 00:12:15 gw sshd[1201]: Failed password for invalid user admin",
            "error: could not compile `x`",
            "error[E0308]: mismatched types",
            "bash: foo: command not found",
            "ls: cannot access 'x': No such file or directory",
            "ValueError: bad",
            "java.io.IOException: Broken pipe",
            "npm ERR! code ELIFECYCLE",
            "thread 'main' panicked at src/main.rs:1:2:",
            "Process completed with exit code 1.",
            "make: *** [Makefile:3: all] Error 2",
            "3 failed, 2 passed",
            "wan0: link is down",
            "request took 30s: timed out",
            "FAIL src/a.test.ts",
            "web07 : ok=27 changed=4 unreachable=0 failed=1 skipped=3",
            "Out of memory: Killed process 2290",
            "Killed",
            "error reading /srv/shop.toml",
            "errors:",
            "ERROR",
        ];
        for line in errors {
            assert_eq!(of(line), Some(Trouble::Error), "{line}");
        }
    }

    #[test]
    fn warnings_are_told_by_levels_and_words() {
        let warnings = [
            "WARN  o.a.k.c.NetworkClient - x",
            "warning: unused variable: `x`",
            "npm WARN deprecated x@1",
            "W0102 15:04:05.123456       1 x.go:1] y",
            "[WARNING] plugin missing",
            "x.c:1:2: warning: unused",
            "(node:12) DeprecationWarning: the punycode module is deprecated",
        ];
        for line in warnings {
            assert_eq!(of(line), Some(Trouble::Warning), "{line}");
        }
    }

    #[test]
    fn what_only_looks_like_trouble_is_none() {
        let nothing = [
            "INFO  request failed as expected",
            "0 errors, 0 warnings",
            "Found 0 errors.",
            "test result: ok. 5 passed; 0 failed; 0 ignored",
            "no errors found",
            "errors: 0",
            "failed=0 ok=3",
            "web07 : ok=27 changed=4 unreachable=0 failed=0 skipped=3",
            "{\"error\":null}",
            "error= status=200",
            "   Compiling thiserror v1.0.40",
            "src/error.rs",
            "modified: src/errors.py",
            "cargo test --no-fail-fast",
            "test handles_error ... ok",
            "✓ should fail when empty",
            "GET /error-page 200",
            "exit code 0",
            "use std::error::Error as _;",
            "status 200",
            "timeout=30s",
            "not ok 4 - later # TODO see #12",
            "not ok 5 - elsewhere # skip no network",
            "errors",
            "2026-11-12T08:14:07.0000067Z     error handling",
            "invalid status codes",
            "      error handling",
            "error, each preceded by a number.  If the in  word  is  omitted,",
            "errors are written to the log",
            " log_min_error_statement | error | | Causes all statements generating error to be logged.",
        ];
        for line in nothing {
            assert_eq!(of(line), None, "{line}");
        }
    }
}
