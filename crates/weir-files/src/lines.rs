//! A range of lines of a file, as many of them as fit in a budget.

use weir_host::error::CommandError;

/// A range of lines, counted from 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Range {
    /// From the first to the last line, inclusive.
    Between(usize, usize),
    Last(usize),
}

/// Some lines of a text.
#[derive(Debug, PartialEq, Eq)]
pub struct LineSelection<'a> {
    pub text: &'a str,
    pub first: usize,
    /// The number of the last line. Less than the first if there are none.
    pub last: usize,
    /// Whether requested lines are left out.
    pub cut: bool,
}

impl Range {
    /// Parses `10-40`, `10-`, `10` or `-20`.
    pub fn parse(text: &str) -> Result<Self, CommandError> {
        let wrong = || {
            CommandError::usage(format!("`{text}` is not a line range"))
                .hint("write 10-40, 10- (to the end), 10 (one line) or -20 (the last 20)")
        };
        let number = |text: &str| text.trim().parse::<usize>().map_err(|_| wrong());
        let range = match text.trim().split_once(['-', ',', ':']) {
            None => number(text).map(|line| Self::Between(line, line))?,
            Some(("", last)) => Self::Last(number(last)?),
            Some((first, "")) => Self::Between(number(first)?, usize::MAX),
            Some((first, last)) => Self::Between(number(first)?, number(last)?),
        };
        match range {
            Self::Between(first, last) if first > last || last == 0 => Err(wrong()),
            range => Ok(range),
        }
    }

    /// Returns the lines of a text that are in the range, as many as fit in a number of tokens.
    pub fn of(self, text: &str, tokens: usize) -> LineSelection<'_> {
        let count = text.lines().count();
        let (first, last) = match self {
            Self::Between(first, last) => (first.max(1), last.min(count)),
            Self::Last(number) => (count.saturating_sub(number) + 1, count),
        };
        if first > last {
            return LineSelection { text: "", first, last, cut: false };
        }
        let mut ends = text.split_inclusive('\n').scan(0, |end, line| {
            *end += line.len();
            Some(*end)
        });
        let begin = if first == 1 { 0 } else { ends.nth(first - 2).unwrap_or(text.len()) };
        let end = ends.nth(last - first).unwrap_or(text.len());
        let whole = &text[begin..end];
        let fits = weir_tokens::fit(whole, tokens);
        if fits == whole.len() {
            return LineSelection { text: whole, first, last, cut: false };
        }
        // Only whole lines, unless not even one fits.
        let shown = whole[..fits].rfind('\n').map_or(&whole[..fits], |at| &whole[..=at]);
        LineSelection { text: shown, first, last: first + shown.lines().count().max(1) - 1, cut: true }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(range: &str, expected: (&str, usize, usize)) {
        let part = Range::parse(range).unwrap().of("one\ntwo\nthree\n", 100);
        assert_eq!(
            (part.text, part.first, part.last, part.cut),
            (expected.0, expected.1, expected.2, false),
            "{range}"
        );
    }

    #[test]
    fn a_range_is_the_lines_it_says() {
        check("1-2", ("one\ntwo\n", 1, 2));
        check("2", ("two\n", 2, 2));
        check("2-", ("two\nthree\n", 2, 3));
        check("-1", ("three\n", 3, 3));
        check("-9", ("one\ntwo\nthree\n", 1, 3));
        check("7-9", ("", 7, 3));
        for wrong in ["0", "3-2", "x", "", "-x"] {
            assert!(Range::parse(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_cut_is_at_the_end_of_a_line() {
        let text = "one two three four\n".repeat(50);
        let part = Range::Between(11, 50).of(&text, 60);
        assert!(part.cut && part.text.ends_with('\n') && part.first == 11 && part.last < 50, "{part:?}");
        assert_eq!(part.text.lines().count(), part.last - part.first + 1);
    }
}
