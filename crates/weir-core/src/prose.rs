//! Tells what people write from what programs print: sentences, and lines of logs and test runs.

/// The length of a text that is searched for a sentence, in bytes.
const MAX_SEARCHED_BYTES: usize = 4 << 10;
/// The minimum percentage of letters, spaces and punctuation in a sentence. It may name a file or a number.
const MIN_SENTENCE_PERCENT: usize = 65;
/// The minimum percentage of them in prose of any length.
const MIN_PROSE_PERCENT: usize = 88;

/// Words at the beginning of a line with which programs say how something went.
const STATES: &[&str] = &[
    "PASS", "FAIL", "FAILED", "PASSED", "ERROR", "ERR", "WARN", "WARNING", "INFO", "DEBUG", "TRACE", "FATAL", "OK",
    "ok", "SKIP", "SKIPPED", "RUN", "PAUSE", "CONT", "NOTE",
];

/// Returns whether a text reads like sentences: nearly all of it is letters, spaces and punctuation.
pub fn is_prose(text: &str) -> bool {
    has_words(text, MIN_PROSE_PERCENT)
}

/// Returns whether at least this percentage of a text is letters, spaces and punctuation.
fn has_words(text: &str, percent: usize) -> bool {
    let head = text[..text.floor_char_boundary(MAX_SEARCHED_BYTES)].trim();
    let (mut all, mut words, mut spaceless) = (0, 0, 0);
    for c in head.chars() {
        all += 1;
        words += usize::from(c.is_alphabetic() || c == ' ' || ".,'’?!。、，？！：".contains(c));
        spaceless += usize::from(is_spaceless(c));
    }
    // A single endless word is not a sentence, except in a script without spaces.
    let has_spaces = head.split_whitespace().count() * 25 >= all || spaceless * 3 >= all;
    words * 100 >= all * percent && has_spaces
}

/// Returns whether a letter belongs to a script that puts no spaces between words: Chinese or Japanese.
pub fn is_spaceless(c: char) -> bool {
    matches!(c, '\u{3040}'..='\u{30ff}' | '\u{3400}'..='\u{9fff}' | '\u{f900}'..='\u{faff}')
}

/// Splits a line into sentences: after every full stop, exclamation mark and question mark that a space follows, so not
/// inside `file.md`, and after those of Chinese and Japanese.
pub fn sentences(line: &str) -> impl Iterator<Item = &str> {
    let mut rest = line;
    std::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        let ends_at = |(at, mark): (usize, &str)| {
            let end = at + mark.len();
            (mark.len() > 1 || rest[end..].starts_with(char::is_whitespace)).then_some(end)
        };
        let end = rest.match_indices(['.', '!', '?', '。', '！', '？']).find_map(ends_at).unwrap_or(rest.len());
        let (sentence, after) = rest.split_at(end);
        rest = after;
        Some(sentence.trim())
    })
}

/// Returns the first sentence that a person may have written. Some programs write line breaks as `\n`.
pub fn first_sentence(text: &str) -> Option<&str> {
    let head = &text[..text.floor_char_boundary(MAX_SEARCHED_BYTES)];
    let lines = head.split('\n').flat_map(|line| line.split("\\n"));
    let is_written = |line: &&str| !line.starts_with(['<', '[', '{', '`', '=', '|']) && !is_log_line(line);
    let lines = lines.map(|line| without_placeholder(line.trim().trim_start_matches(['#', '*', '-', '>', ' '])));
    let lines = lines.filter(is_written);
    let is_sentence = |text: &&str| {
        let words = text.split_whitespace().count();
        (words > 1 || text.chars().filter(|c| is_spaceless(*c)).count() > 3) && has_words(text, MIN_SENTENCE_PERCENT)
    };
    lines.flat_map(sentences).find(is_sentence)
}

/// Returns a line without the placeholder of an image or of pasted data at its beginning.
fn without_placeholder(line: &str) -> &str {
    let inside = ["[Image ", "[pasted"].iter().find_map(|mark| line.strip_prefix(mark));
    inside.and_then(|inside| inside.split_once(']')).map_or(line, |(_, rest)| rest.trim_start())
}

/// Returns whether a line looks like one that a program printed: a state, a time, a place in a file, a duration in
/// brackets, or the frame of a terminal program.
pub fn is_log_line(line: &str) -> bool {
    let line = line.trim();
    if line.starts_with(['⎿', '❯', '│', '╭', '╰', '✓', '✗', '✘', '✖', '●']) || line.starts_with("$ ")
    {
        return true;
    }
    let bare = line.trim_start_matches(['-', '=', '[', '*', '#', ' ']);
    let word = bare.split([':', ' ', ']', '\t']).next().unwrap_or_default();
    let after = &bare[word.len()..];
    let is_state = STATES.contains(&word) && after.starts_with([':', ' ', ']', '\t']);
    // "OK let's go" and "NOTE that" are how people write, too.
    let is_marked = line.len() > bare.len() || !after.starts_with(' ') || after.starts_with("  ") || word.len() > 4;
    (is_state && is_marked) || has_duration(line) || begins_with_time(bare) || begins_with_place(bare)
}

/// Returns whether a line has a duration in brackets: `(0.04s)`, `[12ms]`.
fn has_duration(line: &str) -> bool {
    line.match_indices(['(', '[']).any(|(at, _)| {
        let inside = line[at + 1..].split([')', ']']).next().unwrap_or_default();
        let number = inside.trim_end_matches(|c: char| c.is_ascii_lowercase()).trim_end();
        let unit = inside[number.len()..].trim();
        matches!(unit, "s" | "ms" | "us" | "ns" | "m" | "h" | "sec" | "secs")
            && number.starts_with(|c: char| c.is_ascii_digit())
            && number.bytes().all(|byte| byte.is_ascii_digit() || b".hms ".contains(&byte))
    })
}

fn begins_with_time(line: &str) -> bool {
    let shape: String = line.chars().take(8).map(|c| if c.is_ascii_digit() { '0' } else { c }).collect();
    shape == "0000-00-" || shape == "00:00:00" || shape == "0000/00/"
}

/// Returns whether a line begins with a place in a file: `src/a.rs:12:5: …`, `a_test.go:7: …`.
fn begins_with_place(line: &str) -> bool {
    let Some((path, rest)) = line.split_once(':') else { return false };
    let digits = rest.len() - rest.trim_start_matches(|c: char| c.is_ascii_digit()).len();
    let is_path = path.contains('.') && !path.contains(' ') && !path.ends_with('.');
    is_path && digits > 0 && rest[digits..].starts_with([':', ' ', ','])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check_log_line(line: &str, expected: bool) {
        assert_eq!(is_log_line(line), expected, "{line}");
    }

    #[test]
    fn lines_of_programs_are_told_from_those_of_people() {
        for line in [
            "--- FAIL: TestEnable (0.04s)", "=== RUN   TestEnable", "PASS: the parser",
            "ERROR: branch does not exist!", "[INFO] started", "[lint] finished (12ms)",
            "2026-01-01 10:00:00 connected", "10:00:00 connected", "src/a.rs:12:5: cannot find value",
            "a_test.go:7: got 3", "⎿ Read 3 lines", "ok  \texample.org/parser\t0.5s", "WARNING it is deprecated",
            "$ make test",
        ] {
            check_log_line(line, true);
        }
        for line in [
            "OK let's go", "note that it is slow", "HARD CONSTRAINT: no network", "use a.rs: it has the parser",
            "in common.go:296 we open the file", "(see above) it should be 5 s", "Decision: keep it",
            "1. keep the parser",
        ] {
            check_log_line(line, false);
        }
    }

    fn check_sentences(line: &str, expected: &[&str]) {
        assert_eq!(sentences(line).collect::<Vec<_>>(), expected);
    }

    #[test]
    fn a_sentence_ends_where_a_space_follows() {
        check_sentences(
            "Shall I update `README.md` and commit? Or v1.2.",
            &["Shall I update `README.md` and commit?", "Or v1.2."],
        );
        check_sentences("我们用 SQLite。不要改 API！", &["我们用 SQLite。", "不要改 API！"]);
        check_sentences("", &[]);
    }

    fn check_first(text: &str, expected: Option<&str>) {
        assert_eq!(first_sentence(text), expected, "{text}");
    }

    #[test]
    fn the_first_sentence_is_one_that_a_person_wrote() {
        check_first("fix the parser. Then the lexer.", Some("fix the parser."));
        check_first("# Port the parser\n\ntext", Some("Port the parser"));
        check_first("[pasted: 7.6 KiB]", None);
        check_first("[Image #1] why is it red?", Some("why is it red?"));
        check_first(
            "--- FAIL: TestA (0.00s)\n    a_test.go:7: got 3\nwhy does this fail?",
            Some("why does this fail?"),
        );
        check_first(
            "<context>\\nYour repository is at /srv/blosc2\\n</context>",
            Some("Your repository is at /srv/blosc2"),
        );
        check_first("{\"a\": 1}\n0x1234 0x5678 0x9abc", None);
        check_first("テストを先に書いてください", Some("テストを先に書いてください"));
    }

    #[test]
    fn prose_needs_no_spaces_in_every_script() {
        assert!(is_prose(&"请把解析器移植到新的词法分析器，并保留所有错误信息。".repeat(40)));
        assert!(!is_prose(&"x1,".repeat(400)));
    }
}
