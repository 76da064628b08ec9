//! Resolves quotes and backslashes: the four ways in which the shell quotes.

/// Decodes `$'…'`, given with its quotes. Returns `None` if it does not end where the parser says, or contains an
/// escape whose value is not plain text.
pub(super) fn ansi_c(source: &str) -> Option<String> {
    let body = source.strip_prefix("$'")?;
    let mut bytes: Vec<u8> = Vec::new();
    let mut chars = body.chars().peekable();
    loop {
        match chars.next()? {
            '\'' => break,
            '\\' => escape(&mut chars, &mut bytes)?,
            c => push(&mut bytes, c),
        }
    }
    // A quote before the end means that the parser and the shell disagree on where the string ends.
    if chars.next().is_some() {
        return None;
    }
    String::from_utf8(bytes).ok()
}

type Chars<'a> = std::iter::Peekable<std::str::Chars<'a>>;

fn escape(chars: &mut Chars<'_>, bytes: &mut Vec<u8>) -> Option<()> {
    let c = chars.next()?;
    let byte = match c {
        'a' => 0x07,
        'b' => 0x08,
        'e' | 'E' => 0x1b,
        'f' => 0x0c,
        'n' => b'\n',
        'r' => b'\r',
        't' => b'\t',
        'v' => 0x0b,
        '\\' | '\'' | '"' | '?' => u8::try_from(c).ok()?,
        'x' => u8::try_from(digits(chars, 16, 2)?).ok()?,
        'u' => return push_code(bytes, digits(chars, 16, 4)?),
        'U' => return push_code(bytes, digits(chars, 16, 8)?),
        '0'..='7' => {
            let first = c.to_digit(8)?;
            let mut value = first;
            for _ in 0..2 {
                let Some(digit) = chars.peek().and_then(|c| c.to_digit(8)) else { break };
                value = value * 8 + digit;
                chars.next();
            }
            u8::try_from(value & 0xff).ok()?
        }
        // Control characters, and anything a later shell may add.
        _ => return None,
    };
    // The shell ends the string at a zero byte, which can be used to hide text.
    if byte == 0 {
        return None;
    }
    bytes.push(byte);
    Some(())
}

fn digits(chars: &mut Chars<'_>, radix: u32, most: usize) -> Option<u32> {
    let mut value: Option<u32> = None;
    for _ in 0..most {
        let Some(digit) = chars.peek().and_then(|c| c.to_digit(radix)) else { break };
        value = Some(value.unwrap_or(0).checked_mul(radix)?.checked_add(digit)?);
        chars.next();
    }
    value
}

fn push_code(bytes: &mut Vec<u8>, code: u32) -> Option<()> {
    // The bytes of a non-ASCII character depend on the locale of the run.
    let c = char::from_u32(code).filter(|c| *c != '\0' && c.is_ascii())?;
    push(bytes, c);
    Some(())
}

fn push(bytes: &mut Vec<u8>, c: char) {
    bytes.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes());
}

/// Decodes plain text in double quotes: a backslash is special only before `$`, a backtick, `"`, itself and a newline.
pub(super) fn double(source: &str) -> String {
    let mut text = String::with_capacity(source.len());
    let mut chars = source.chars().peekable();
    while let Some(c) = chars.next() {
        match (c, chars.peek()) {
            ('\\', Some('\n')) => {
                chars.next();
            }
            ('\\', Some('$' | '`' | '"' | '\\')) => text.extend(chars.next()),
            _ => text.push(c),
        }
    }
    text
}

/// Returns whether the shell would expand a text outside single quotes: `$(`, `${`, `$x` or a backtick. A backslash
/// escapes the next character.
pub(super) fn expands(source: &str) -> bool {
    let mut chars = source.char_indices();
    while let Some((at, c)) = chars.next() {
        match c {
            '\\' => {
                chars.next();
            }
            '`' => return true,
            '$' => {
                // The shell removes a backslash at the end of a line before it looks at what follows.
                let next = source[at + 1..].trim_start_matches("\\\n").chars().next().unwrap_or(' ');
                if next.is_alphanumeric() || "({[_*@#?!$".contains(next) {
                    return true;
                }
            }
            _ => {}
        }
    }
    false
}

/// Returns whether a text would run a command if it were expanded again, as subscripts and prompts are.
pub(super) fn runs_when_expanded(text: &str) -> bool {
    text.contains("$(") || text.contains('`') || text.contains("${") && text.contains('(')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ansi_c_strings_are_decoded_or_refused() {
        let check = |source: &str, expected: Option<&str>| assert_eq!(ansi_c(source).as_deref(), expected, "{source}");
        check(r"$'sudo'", Some("sudo"));
        check(r"$'\x73\165do'", Some("sudo"));
        check(r"$'\u0073udo'", Some("sudo"));
        check(r"$'it\'s'", Some("it's"));
        // The second backslash is escaped, so the string ends before the semicolon.
        check(r"$'a\\'; sudo id'", None);
        check(r"$'a\0b'", None);
        check(r"$'\cA'", None);
        check(r"$'\u5065'", None);
    }

    #[test]
    fn double_quotes_keep_most_backslashes() {
        assert_eq!(double(r#"a\$b \n \"q\" \\"#), r#"a$b \n "q" \"#);
        assert_eq!(double("a\\\nb"), "ab");
    }

    #[test]
    fn what_expands_is_told_from_what_is_escaped() {
        assert!(expands("a $(b)") && expands("`b`") && expands("${b}") && expands("$b"));
        assert!(!expands(r"\$(b) \` costs 5$ or $."));
    }
}
