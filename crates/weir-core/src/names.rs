//! Names: identifiers, paths and versions that cannot be guessed, and so must have been seen. Prose is left out.

use std::borrow::Cow;

const MIN_NAME_BYTES: usize = 5;

/// File extensions that tell a hidden file such as `.rubocop.yml` from a call such as `.then.finish`.
const HIDDEN_FILE_EXTENSIONS: &[&str] = &[
    "cfg", "cjs", "conf", "css", "example", "html", "ini", "js", "json", "jsonc", "jsonl", "local", "lock", "log",
    "md", "mjs", "properties", "sample", "sh", "toml", "ts", "txt", "xml", "yaml", "yml",
];

/// Calls `take` with every name in a text, and with whether it is an absolute path, whose first slash is left out. A
/// hidden file or folder keeps its dot. JSON escapes line ends and tabs; these end a name too.
pub fn each(text: &str, mut take: impl FnMut(&str, bool)) {
    let text: Cow<'_, str> = match text.contains('\\') {
        true => text.replace("\\n", "\n").replace("\\t", "\t").into(),
        false => text.into(),
    };
    for run in text.split(|c: char| !(is_first(c) || "./:+-".contains(c))) {
        let rest = run.trim_start_matches(|c| !is_first(c));
        let word = rest.trim_end_matches(['.', ':', '-', '+', '/']);
        if is_name(word) {
            let before = &run[..run.len() - rest.len()];
            let is_hidden = (before == "." || before.ends_with("/.")) && is_hidden_file(word);
            let dot = usize::from(is_hidden);
            let from = before.len() - dot;
            take(&run[from..before.len() + word.len()], run[..from].ends_with('/') && !run[..from].contains('.'));
        }
    }
}

/// Returns whether a word that follows a dot is the name of a hidden file or folder, and not a call.
fn is_hidden_file(word: &str) -> bool {
    let extension = word.rsplit_once('.').map_or("", |(_, extension)| extension);
    word.contains('/') || HIDDEN_FILE_EXTENSIONS.contains(&extension)
}

fn is_first(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_'
}

/// Returns whether a word is a name: more than a word of prose, and more than a plain number.
pub fn is_name(word: &str) -> bool {
    let bytes = word.as_bytes();
    let has_hump = || bytes.windows(2).any(|pair| pair[0].is_ascii_lowercase() && pair[1].is_ascii_uppercase());
    let has_mark = || bytes.iter().any(|byte| byte.is_ascii_digit() || b"_/.".contains(byte));
    bytes.len() >= MIN_NAME_BYTES && !bytes.iter().all(u8::is_ascii_digit) && (has_mark() || has_hump())
}

/// Returns whether a word could be two or more words of prose with a slash between them, such as `before/after`, and
/// not a path: it has nothing but letters.
pub fn may_be_prose(word: &str) -> bool {
    word.contains('/') && word.bytes().all(|byte| byte.is_ascii_alphabetic() || b"/-".contains(&byte))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_cannot_be_guessed_is_a_name() {
        let text = r#"{"file_path":"./src/lib.rs:12","n":123456} The fooBar of Parser is parse_it(), not\nv1.2.3+x. short a_b"#;
        let mut found = Vec::new();
        each(text, |word, _| found.push(word.to_owned()));
        assert_eq!(found, ["file_path", "src/lib.rs:12", "fooBar", "parse_it", "v1.2.3+x"]);
    }

    #[test]
    fn a_hidden_file_keeps_its_dot() {
        let text = "`.planning/notes/x` ./.github/ci.yml /.git/index edit(.rubocop.yml) rows.iter()\n  .filter_map(f) \
                    .then.finish(...spread_it) ..END_OF a/.env/b_c";
        let mut found = Vec::new();
        each(text, |word, absolute| found.push((word.to_owned(), absolute)));
        let expected = [
            (".planning/notes/x", false),
            (".github/ci.yml", false),
            (".git/index", true),
            (".rubocop.yml", false),
            ("rows.iter", false),
            ("filter_map", false),
            ("then.finish", false),
            ("spread_it", false),
            ("END_OF", false),
            ("a/.env/b_c", false),
        ];
        assert_eq!(found, expected.map(|(word, absolute)| (word.to_owned(), absolute)));
    }

    #[test]
    fn an_absolute_path_is_told_from_another_that_ends_like_it() {
        let mut found = Vec::new();
        each("/other/src/lib.rs src/lib.rs ../src/main.rs", |word, absolute| found.push((word.to_owned(), absolute)));
        let expected = [("other/src/lib.rs", true), ("src/lib.rs", false), ("src/main.rs", false)];
        assert_eq!(found, expected.map(|(word, absolute)| (word.to_owned(), absolute)));
    }
}
