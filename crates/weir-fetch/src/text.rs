//! Cleans up texts. Invariant: a text that leaves this crate has no characters that a person cannot see.

use url::Url;

/// Returns a URL without the parts that may be secret.
pub(crate) fn without_secrets(url: &Url) -> String {
    let mut bare = url.clone();
    // A URL that cannot have them has none.
    let _ = bare.set_username("");
    let _ = bare.set_password(None);
    bare.set_query(None);
    bare.set_fragment(None);
    bare.as_str().trim_end_matches('/').to_owned()
}

pub(crate) fn one_line(text: &str, most: usize) -> String {
    let mut line = String::new();
    for word in text.split(|c: char| c.is_whitespace() || c.is_control()).filter(|word| !word.is_empty()) {
        if !line.is_empty() {
            line.push(' ');
        }
        line.push_str(word);
        if line.len() > most * 4 {
            break;
        }
    }
    match line.char_indices().nth(most) {
        Some((end, _)) => format!("{}…", line.get(..end).unwrap_or_default().trim_end()),
        None => line,
    }
}

/// Removes invisible characters, which can hide text from people: controls, tags, fillers, variation selectors and
/// direction marks. Returns how many there were.
///
/// Kept are the joiners, which some scripts need, and the two selectors that choose between the plain and the coloured
/// form of a symbol.
pub(crate) fn without_invisible(text: String) -> (String, usize) {
    let hidden = text.chars().filter(|c| is_invisible(*c)).count();
    if hidden == 0 {
        return (text, 0);
    }
    (text.chars().filter(|c| !is_invisible(*c)).collect(), hidden)
}

fn is_invisible(c: char) -> bool {
    (c.is_control() && !matches!(c, '\n' | '\t'))
        || matches!(c, '\u{200b}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}')
        || matches!(c, '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}')
        || matches!(c, '\u{180b}'..='\u{180f}' | '\u{3164}' | '\u{fe00}'..='\u{fe0d}' | '\u{ffa0}')
        || matches!(c, '\u{feff}' | '\u{fff9}'..='\u{fffb}' | '\u{1d173}'..='\u{1d17a}' | '\u{e0000}'..='\u{e0fff}')
}

/// Converts all line ends to `\n`.
pub(crate) fn with_plain_line_ends(text: String) -> String {
    if text.contains('\r') { text.replace("\r\n", "\n").replace('\r', "\n") } else { text }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_one_line() {
        assert_eq!(one_line(" a\n\tb\u{1b}[31m c ", 80), "a b [31m c");
        assert_eq!(one_line("äöüß", 2), "äö…");
    }

    #[test]
    fn hidden_words_are_taken_out() {
        let (text, hidden) = without_invisible("a\u{e0041}\u{202e}b\u{1b}c\n\t".to_owned());
        assert_eq!((text.as_str(), hidden), ("abc\n\t", 3));
        let (text, hidden) = without_invisible("a\u{61c}\u{fe01}\u{fe0d}\u{e01f0}\u{3164}\u{ad}b".to_owned());
        assert_eq!((text.as_str(), hidden), ("ab", 6));
        let kept = "⚠\u{fe0f} می\u{200c}خواهم 👩\u{200d}💻";
        assert_eq!(without_invisible(kept.to_owned()), (kept.to_owned(), 0));
    }
}
