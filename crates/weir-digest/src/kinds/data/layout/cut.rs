//! Splits a row of a table at its columns, and finds where those begin.

/// Returns the parts of a line that begin at these characters.
pub(super) fn pieces<'a>(line: &'a str, starts: &[usize]) -> Vec<&'a str> {
    let byte = |letter: usize| match line.is_ascii() {
        true => letter.min(line.len()),
        false => line.char_indices().nth(letter).map_or(line.len(), |(place, _)| place),
    };
    let ends = starts.iter().skip(1).map(|&start| byte(start)).chain([line.len()]);
    let begins = starts.iter().enumerate().map(|(place, &start)| if place == 0 { 0 } else { byte(start) });
    begins.zip(ends).map(|(begin, end)| line.get(begin..end).unwrap_or_default()).collect()
}

/// Returns the cells of a row, if each column is preceded by a blank.
pub(super) fn cut_at<'a>(line: &'a str, starts: &[usize]) -> Option<Vec<&'a str>> {
    let cells = pieces(line, starts);
    let last = cells.iter().rposition(|cell| !cell.is_empty()).unwrap_or(0);
    let apart = cells.iter().take(last).all(|cell| cell.is_empty() || cell.ends_with(' '));
    apart.then(|| cells.into_iter().map(str::trim).collect())
}

/// Returns the cells of a row in which a number is wider than its column and so begins further left.
pub(super) fn cut_before<'a>(line: &'a str, starts: &[usize]) -> Option<Vec<&'a str>> {
    let mut cells = Vec::with_capacity(starts.len());
    let mut begin = 0;
    let mut end = 0;
    for piece in pieces(line, starts) {
        end += piece.len();
        if end >= line.len() {
            break;
        }
        let blank = line.get(begin..end)?.rfind(' ')? + begin + 1;
        cells.push(line.get(begin..blank)?.trim());
        begin = blank;
    }
    cells.push(line.get(begin..)?.trim());
    cells.resize(starts.len(), "");
    Some(cells)
}

pub(super) fn split_words(line: &str, count: usize) -> Option<Vec<&str>> {
    let mut cells = Vec::with_capacity(count);
    let mut rest = line.trim();
    for _ in 1..count {
        let (word, after) = rest.split_once(char::is_whitespace)?;
        cells.push(word);
        rest = after.trim_start();
    }
    if rest.is_empty() {
        return None;
    }
    cells.push(rest);
    Some(cells)
}

/// Returns where each run between gaps begins, in characters.
pub(super) fn starts_of(line: &str, gap: char) -> Vec<usize> {
    let mut before = gap;
    let mut starts = Vec::new();
    for (place, letter) in line.chars().enumerate() {
        if letter != gap && before == gap {
            starts.push(place);
        }
        before = letter;
    }
    starts
}

pub(super) fn starts_after_gaps(header: &str) -> Vec<usize> {
    let mut blanks = 2;
    let mut starts = Vec::new();
    for (place, letter) in header.chars().enumerate() {
        if letter == ' ' {
            blanks += 1;
        } else {
            if blanks >= 2 {
                starts.push(place);
            }
            blanks = 0;
        }
    }
    starts
}

/// Returns where the last word of a header begins, in characters.
pub(super) fn last_word(header: &str) -> Option<usize> {
    let text = header.trim_end();
    let start = text.rfind(' ')? + 1;
    Some(text.get(..start)?.chars().count())
}
