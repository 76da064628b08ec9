//! Blanks macros in C and C++ that appear where no grammar expects a word: those that mark a function as exported, and
//! those that open `extern "C"` for C++ only.
//!
//! Invariant: the result has the same number of bytes and the same newlines as the text.

/// Suffixes of macros that say how something is exported or called, and nothing about what it is.
const MARKS: [&str; 22] = [
    "API", "EXPORT", "EXPORTS", "IMPORT", "PUBLIC", "PRIVATE", "EXTERN", "INLINE", "DECL", "DECLS", "VISIBLE",
    "HIDDEN", "DEPRECATED", "APIENTRY", "CALLBACK", "CDECL", "STDCALL", "NORETURN", "NODISCARD", "CONSTEXPR",
    "LINKAGE", "VISIBILITY",
];

/// Returns the text without such macros, or `None` if there are none.
pub(super) fn preprocess(text: &str) -> Option<String> {
    let mut bytes = text.as_bytes().to_vec();
    let linkage = blank_linkage(text, &mut bytes);
    let marks = blank_marks(text, &mut bytes);
    let calls = blank_calls(text, &mut bytes);
    (linkage || marks || calls).then(|| String::from_utf8(bytes).ok()).flatten()
}

/// Blanks an `#ifdef __cplusplus` that contains only the beginning or the end of `extern "C"`.
fn blank_linkage(text: &str, bytes: &mut [u8]) -> bool {
    let mut changed = false;
    let mut block: Option<(usize, bool)> = None;
    let mut at = 0;
    for line in text.split_inclusive('\n') {
        let bare = line.trim();
        let word: String = bare.split_whitespace().collect();
        if word.starts_with("#if") && word.contains("__cplusplus") && !word.contains("201") {
            block = Some((at, true));
        } else if let Some((start, only)) = block {
            let is_linkage = bare.is_empty()
                || word.starts_with("extern\"C\"{")
                || bare == "extern \"C\""
                || matches!(bare, "{" | "}" | "};")
                || bare.starts_with("} /*")
                || bare.starts_with("} //")
                || bare.starts_with("}  /*");
            if word.starts_with("#endif") {
                if only {
                    blank(bytes, start, at + line.len());
                    changed = true;
                }
                block = None;
            } else {
                block = Some((start, only && is_linkage));
            }
        }
        at += line.len();
    }
    changed
}

/// Blanks a macro at the left margin that is called without a semicolon: `DECLARE_THING(name)`.
fn blank_calls(text: &str, bytes: &mut [u8]) -> bool {
    let mut changed = false;
    let mut at = 0;
    let mut ended = true;
    for line in text.split_inclusive('\n') {
        let (start, bare) = (at, line.trim_end());
        at += line.len();
        let name = bare.split('(').next().unwrap_or_default();
        // A continuation line is part of the line before.
        let begins = std::mem::replace(
            &mut ended,
            bare.is_empty()
                || bare.ends_with([';', '}', '/', ')', '>', '"'])
                || bare.starts_with('#') && !bare.ends_with('\\'),
        );
        if !begins || !is_macro(name) || name.len() == bare.len() {
            continue;
        }
        let whole = text.get(start..).unwrap_or_default();
        let Some(end) = call_end(whole) else { continue };
        let rest = whole.get(end..).unwrap_or_default();
        let is_alone = rest.trim_start_matches([' ', '\t']).starts_with(['\n', '\r']) || rest.is_empty();
        if is_alone && !rest.trim_start().starts_with(['{', '(', ':', '=', ',']) {
            blank(bytes, start, start + end);
            changed = true;
        }
    }
    changed
}

fn call_end(text: &str) -> Option<usize> {
    let mut depth = 0_usize;
    for (at, byte) in text.bytes().enumerate().take(2000) {
        match byte {
            b'(' => depth += 1,
            b')' if depth == 1 => return Some(at + 1),
            b')' => depth = depth.checked_sub(1)?,
            b';' | b'{' | b'#' => return None,
            _ => {}
        }
    }
    None
}

/// Blanks the markers before a function, and any macro between `class` and the name of a class.
fn blank_marks(text: &str, bytes: &mut [u8]) -> bool {
    let mut changed = false;
    let mut before = "";
    let (mut line, mut seen) = (0, 0);
    for (start, word) in words(text) {
        let gap = text.as_bytes().get(seen..start).unwrap_or_default();
        line = gap.iter().rposition(|byte| *byte == b'\n').map_or(line, |end| seen + end + 1);
        seen = start;
        let is_first = text.get(line..start).is_some_and(|head| head.trim_start().is_empty());
        let is_directive = text.get(line..).is_some_and(|line| line.trim_start_matches([' ', '\t']).starts_with('#'));
        let rest = text.get(start + word.len()..).unwrap_or_default();
        let after = rest.trim_start_matches([' ', '\t']);
        let is_word_next =
            after.len() < rest.len() && after.starts_with(|c: char| c.is_ascii_alphabetic() || matches!(c, '_' | '*'));
        let is_mark = is_macro(word) && (word.contains("DEPRECATED") || MARKS.iter().any(|mark| word.ends_with(mark)));
        let alone = is_mark && word.ends_with("_DECLS") && rest.starts_with(['\n', '\r']);
        // The last name of a list stands alone on its line, too.
        let goes_on = || rest.trim_start().starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
        let on_next_line = is_mark && rest.starts_with(['\n', '\r']) && is_first && goes_on();
        let of_class = is_macro(word) && matches!(before, "class" | "struct" | "union") && is_head_of_class(after);
        if alone || (is_mark && (is_word_next || on_next_line) || of_class) && !is_directive {
            blank(bytes, start, start + word.len());
            changed = true;
        } else {
            before = word;
        }
    }
    changed
}

/// Returns whether a word is in capital letters, like a macro.
fn is_macro(word: &str) -> bool {
    word.len() > 2 && word.bytes().all(|b| b.is_ascii_uppercase() || b.is_ascii_digit() || b == b'_')
}

/// Returns whether a name follows, and then the body or the bases of a class.
fn is_head_of_class(after: &str) -> bool {
    let rest = after.trim_start_matches(|c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | ':' | '<' | '>'));
    if rest.len() == after.len() {
        return false;
    }
    let rest = rest.trim_start();
    rest.starts_with(['{', ':']) || rest.starts_with("final")
}

fn blank(bytes: &mut [u8], start: usize, end: usize) {
    for byte in bytes.get_mut(start..end).into_iter().flatten().filter(|byte| !matches!(**byte, b'\n' | b'\r')) {
        *byte = b' ';
    }
}

fn words(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut rest = 0;
    std::iter::from_fn(move || {
        let is_word = |b: u8| b.is_ascii_alphanumeric() || b == b'_';
        let bytes = text.as_bytes();
        let start = rest + bytes.get(rest..)?.iter().position(|b| is_word(*b))?;
        let len = bytes.get(start..)?.iter().position(|b| !is_word(*b)).unwrap_or(bytes.len() - start);
        rest = start + len;
        Some((start, text.get(start..rest)?))
    })
}

#[cfg(test)]
mod tests {
    use super::preprocess;

    fn check(text: &str, expected: Option<&str>) {
        let preprocessed = preprocess(text);
        assert_eq!(preprocessed.as_deref(), expected, "{text}");
        assert!(preprocessed.is_none_or(|preprocessed| preprocessed.len() == text.len()));
    }

    #[test]
    fn only_macros_that_stand_in_the_way_are_blanked() {
        check("FOO_API int f(void);\n", Some("        int f(void);\n"));
        check("class MY_EXPORT Name : Base {};\n", Some("class           Name : Base {};\n"));
        check("DECLARE_IT(x)\nint f(void);\n", Some("             \nint f(void);\n"));
        check("TEST(a, b)\n{\n}\n", None);
        check("HANDLE open(int);\nstruct FILE_T *g(void);\n", None);
        check("#define FOO_API extern int\n", None);
        check("enum { RED,\n  BLUE\n};\n", None);
        check("enum {\n  SEEN_PUBLIC,\n  SEEN_PRIVATE\n};\n", None);
        check("FOO_API\nint f(void);\n", Some("       \nint f(void);\n"));
        check("#ifdef __cplusplus\nextern \"C\" {\n#endif\n", Some("                  \n            \n      \n"));
    }
}
