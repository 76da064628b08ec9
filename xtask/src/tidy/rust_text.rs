//! Blanks out the parts of Rust source that a check must not read. Lines and columns stay the same.

pub(super) fn without_comments(text: &str) -> String {
    blanked(text, |part| part == Part::Comment)
}

/// Returns the text without comments and without the content of string and character literals.
pub(super) fn code_only(text: &str) -> String {
    blanked(text, |part| part != Part::Code)
}

#[derive(Clone, Copy, PartialEq)]
enum Part {
    Code,
    Comment,
    Literal,
}

fn blanked(text: &str, unwanted: impl Fn(Part) -> bool) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    let mut before = ' ';
    while let Some(first) = rest.chars().next() {
        let (part, length) = next_part(rest, before);
        let (taken, after) = rest.split_at(length.max(first.len_utf8()));
        if unwanted(part) {
            out.extend(taken.chars().map(|c| if c == '\n' { '\n' } else { ' ' }));
        } else {
            out.push_str(taken);
        }
        before = taken.chars().next_back().unwrap_or(' ');
        rest = after;
    }
    out
}

/// Returns the kind and the length of the part that the text starts with. `before` tells `r"` from the end of a name.
fn next_part(text: &str, before: char) -> (Part, usize) {
    if text.starts_with("//") {
        (Part::Comment, text.find('\n').unwrap_or(text.len()))
    } else if text.starts_with("/*") {
        (Part::Comment, block_comment(text))
    } else if let Some(length) = raw_string(text).filter(|_| !is_name(before)) {
        (Part::Literal, length)
    } else if text.starts_with('"') {
        (Part::Literal, escaped(text, '"'))
    } else if is_character(text) {
        (Part::Literal, escaped(text, '\''))
    } else {
        (Part::Code, 0)
    }
}

fn is_name(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

/// Returns the length of a block comment, which may be nested.
fn block_comment(text: &str) -> usize {
    let mut depth = 0_usize;
    let mut at = 0;
    while at < text.len() {
        let rest = &text.as_bytes()[at..];
        if rest.starts_with(b"/*") {
            depth += 1;
            at += 2;
        } else if rest.starts_with(b"*/") {
            depth -= 1;
            at += 2;
        } else {
            at += 1;
        }
        if depth == 0 {
            return at;
        }
    }
    text.len()
}

/// Returns the length of a raw string such as `r#"…"#`, with or without `b` or `c` in front.
fn raw_string(text: &str) -> Option<usize> {
    let after_r = text.trim_start_matches(['b', 'c']).strip_prefix('r')?;
    let body = after_r.trim_start_matches('#');
    let hashes = after_r.len() - body.len();
    let close = format!("\"{}", "#".repeat(hashes));
    let body = body.strip_prefix('"')?;
    let opening = text.len() - body.len();
    Some(body.find(&close).map_or(text.len(), |end| opening + end + close.len()))
}

/// Returns the length of a literal that ends at `quote`, respecting backslashes.
fn escaped(text: &str, quote: char) -> usize {
    let mut skip = false;
    for (at, c) in text.char_indices().skip(1) {
        match c {
            _ if skip => skip = false,
            '\\' => skip = true,
            _ if c == quote => return at + c.len_utf8(),
            _ => {}
        }
    }
    text.len()
}

/// Tells `'a'` and `'\n'` from the lifetime `'a`.
fn is_character(text: &str) -> bool {
    let mut chars = text.chars();
    chars.next() == Some('\'') && (chars.next() == Some('\\') || chars.next() == Some('\''))
}

#[cfg(test)]
mod tests {
    use super::{code_only, without_comments};

    #[test]
    fn comments_go_and_lines_stay() {
        assert_eq!(without_comments("a // b\nc /* d /* e */\n f */ g"), "a     \nc             \n      g");
        assert_eq!(without_comments(r#""// not one" x"#), r#""// not one" x"#);
    }

    #[test]
    fn every_kind_of_literal_goes() {
        let words = |text: &str| code_only(text).split_whitespace().collect::<Vec<_>>().join(" ");
        assert_eq!(words(r##"x("a\"b", r#"c"d"#, br"e", 'f', '\'', '"') y"##), "x( , , , , , ) y");
        assert_eq!(words("fn a<'x>(b: &'x str) -> char { 'c' }"), "fn a<'x>(b: &'x str) -> char { }");
    }
}
