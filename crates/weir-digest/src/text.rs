//! Helpers for lines that several kinds need.

/// Returns whether a shell command runs a program of this name, followed by the other words of `program`: `git log`.
pub(crate) fn runs(command: &str, program: &str) -> bool {
    let mut wanted = program.split(' ');
    let Some(name) = wanted.next() else { return false };
    command.split(['|', ';', '&', '\n', '(', ')']).any(|simple| {
        let mut words = simple.split_whitespace();
        let named = |word: &str| word == name || word.strip_suffix(name).is_some_and(|path| path.ends_with('/'));
        words.any(named) && wanted.clone().all(|word| words.any(|given| given == word))
    })
}

pub(crate) fn starts(text: &str, words: &[&str]) -> bool {
    words.iter().any(|word| text.starts_with(word))
}

/// Returns at most `most` bytes of a line or a value of the output, and how many more it has. A text that was cut
/// before may be cut again: the number still counts everything that is missing.
pub(crate) fn clip(line: &str, most: usize) -> String {
    clip_part(line, most, 0)
}

/// Like [`clip`], for a line of which `left_out` bytes are already missing.
pub(crate) fn clip_part(line: &str, most: usize, left_out: u64) -> String {
    let (text, cut) = before_cut(line);
    let left_out = left_out + cut;
    if text.len() <= most && left_out == 0 {
        return line.to_owned();
    }
    let end = text.floor_char_boundary(most);
    let more = (text.len() - end) as u64 + left_out;
    format!("{}{CUT}{})", &text[..end], count(more, "more byte", "more bytes"))
}

/// Returns at most `most` bytes of a text that we composed. Its missing bytes are none of the output, so they are not
/// counted.
pub(crate) fn shorten(text: &str, most: usize) -> String {
    match before_cut(text).0 {
        whole if whole.len() <= most => text.to_owned(),
        whole => format!("{}…", &whole[..whole.floor_char_boundary(most)]),
    }
}

/// What follows a text that was cut: `… (12 more bytes)`.
const CUT: &str = "… (";

/// Splits a text that [`clip`] has cut into what is left of it and the number of bytes that are missing.
pub(crate) fn before_cut(text: &str) -> (&str, u64) {
    let cut = text.strip_suffix(" more bytes)").or_else(|| text.strip_suffix(" more byte)"));
    let cut = cut.and_then(|text| text.rsplit_once(CUT));
    match cut.and_then(|(text, more)| Some((text, more.parse().ok()?))) {
        Some(cut) => cut,
        None => (text, 0),
    }
}

/// Returns a count with its noun: `1 line`, `2 lines`.
pub(crate) fn count(count: u64, one: &str, many: &str) -> String {
    weir_core::wording::counted(usize::try_from(count).unwrap_or(usize::MAX), one, many)
}

/// Returns the counts that are not zero, each with its word: `3 fetched`.
pub(crate) fn counted<const N: usize>(counts: [(u64, &'static str); N]) -> impl Iterator<Item = String> {
    counts.into_iter().filter(|(count, _)| *count > 0).map(|(count, word)| format!("{count} {word}"))
}

/// Parses the number at the beginning of a text, and returns it with the rest.
pub(crate) fn number(text: &str) -> Option<(u64, &str)> {
    let end = text.bytes().position(|byte| !byte.is_ascii_digit()).unwrap_or(text.len());
    Some((text[..end].parse().ok()?, &text[end..]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_is_found_in_a_command() {
        for (command, program) in [
            ("git log -n 5", "git log"),
            ("cd x && git -C y log", "git log"),
            ("/usr/bin/ls -la", "ls"),
            ("cat a | sudo grep b", "grep"),
        ] {
            assert!(runs(command, program), "{command}");
        }
        assert!(!runs("git status", "git log") && !runs("tools", "ls") && !runs("git x; log", "git log"));
    }

    #[test]
    fn a_cut_is_said() {
        assert_eq!(clip("äöü", 3), "ä… (4 more bytes)");
        assert_eq!(clip("abc", 3), "abc");
    }

    #[test]
    fn a_text_cut_twice_counts_everything_that_is_missing() {
        assert_eq!(clip(&clip(&"x".repeat(10_000), 500), 3), "xxx… (9997 more bytes)");
        assert_eq!(clip(&clip("abcdef", 3), 3), "abc… (3 more bytes)");
        assert_eq!(shorten(&format!("name={}", clip("abcdef", 3)), 4), "name…");
        assert_eq!(shorten("abcdef", 6), "abcdef");
    }
}
