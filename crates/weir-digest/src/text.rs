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

/// Returns whether a text starts with any of these.
pub(crate) fn starts(text: &str, words: &[&str]) -> bool {
    words.iter().any(|word| text.starts_with(word))
}

/// Returns at most `most` bytes of a line, and how many more there are.
pub(crate) fn clip(line: &str, most: usize) -> String {
    clip_part(line, most, 0)
}

/// Like [`clip`], for a line of which `left_out` bytes are already missing.
pub(crate) fn clip_part(line: &str, most: usize, left_out: u64) -> String {
    if line.len() <= most && left_out == 0 {
        return line.to_owned();
    }
    let end = line.floor_char_boundary(most);
    let more = (line.len() - end) as u64 + left_out;
    format!("{}… ({more} more bytes)", &line[..end])
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
}
