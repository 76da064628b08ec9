//! Checks lines that stand for themselves or for others: where they are, how many there are, and that they are alike.

use weir_digest::{Item, Part};

use super::{Output, Verdict, number, spaced, uncut};

/// How many lines before the number of a block, and how many after it, may contain its words.
const MAX_LINES_BEFORE: u64 = 100;
const MAX_BLOCK_LINES: u64 = 400;
/// The maximum length of a line that is read completely.
const MAX_LINE_BYTES: usize = 60_000;

pub(super) fn examine(output: &Output, part: &Part, item: &Item, verdict: &mut Verdict) {
    let Some(number) = item.line else { return };
    let first = item.text.lines().next().unwrap_or_default();
    let Some(line) = output.line(number) else {
        return verdict.rule("count", false, || format!("{}: there is no line {number}", part.name));
    };
    match part.folded {
        true => examine_folded(output, item, (number, line), verdict),
        false => examine_block(output, part, (number, line, first), verdict),
    }
}

/// Checks a block of another kind, which is described in our words and those of its lines.
fn examine_block(output: &Output, part: &Part, (number, line, first): (u64, &str, &str), verdict: &mut Verdict) {
    let block: Vec<&str> = output.between(number.saturating_sub(MAX_LINES_BEFORE), number + MAX_BLOCK_LINES).collect();
    let words: Vec<&str> = words(uncut(first)).filter(|_| first != "(no message)").collect();
    let long = block.iter().any(|line| line.len() > MAX_LINE_BYTES);
    let is_there = |word: &&&str| block.iter().any(|line| line.contains(**word)) || long && output.raw.contains(**word);
    let there = words.iter().filter(is_there).count();
    verdict
        .rule("name", there * 2 >= words.len(), || format!("{}: line {number} is `{line}`, not `{first}`", part.name));
}

/// Checks a line of a fold: its position, how many lines are similar, and up to where.
fn examine_folded(output: &Output, item: &Item, (number, line): (u64, &str), verdict: &mut Verdict) {
    let first = item.text.lines().next().unwrap_or_default();
    let last = item.until.unwrap_or(number);
    let alike = |is: &dyn Fn(&str) -> bool| output.between(number, last).filter(|line| is(line)).count() as u64;
    match repeated(first) {
        Some(Repeated { count, shape: Shape::Pattern(pattern) }) => {
            let pieces = pieces(pattern);
            let found = alike(&|line| fits(line, &pieces));
            verdict.rule("repeat", found >= count && fits(line, &pieces), || {
                format!("lines {number} to {last}: {found} are like `{pattern}`, not {count}")
            });
            let end = output.line(last).unwrap_or_default();
            verdict.rule("repeat", fits(end, &pieces), || format!("line {last} is `{end}`, not like `{pattern}`"));
        }
        Some(Repeated { count, shape }) => {
            let (text, found) = match shape {
                Shape::Words(least, most, text) => {
                    (text, alike(&|line| (least..=most).contains(&line.split(' ').count())))
                }
                Shape::Same(text) => (text, alike(&|other| form_of(other) == form_of(line))),
                Shape::Begin(text) => (text, alike(&|other| begin_alike(other, line))),
                Shape::Alike(text) | Shape::Pattern(text) => (text, alike(&|other| are_alike(other, line))),
            };
            verdict.rule("name", line.contains(&spaced(uncut(text))), || {
                format!("line {number} is `{line}`, not `{text}`")
            });
            verdict.rule("repeat", found >= count, || {
                format!("lines {number} to {last}: {found} are what `{first}` says, not {count}")
            });
        }
        None => {
            let text = spaced(uncut(first));
            verdict.rule("name", line.contains(&text), || format!("line {number} is `{line}`, not `{text}`"));
        }
    }
    for more in item.text.lines().skip(1).map(str::trim) {
        let (at, text) = match more.split_once(": ").map(|(at, text)| (at.parse::<u64>(), text)) {
            Some((Ok(at), text)) if at >= number => (at, text),
            _ if more.starts_with("values: ") => continue,
            _ => (0, more),
        };
        let text = spaced(uncut(text));
        let there = match at {
            0 => output.between(number, number + 20).any(|line| line.contains(&text)),
            at => {
                output.line(at).is_some_and(|line| line.contains(&text))
                    || output.between(number, number + 20).any(|line| line.contains(&spaced(uncut(more))))
            }
        };
        verdict.rule("name", there, || format!("`{text}` does not stand below line {number}"));
    }
}

/// Returns the words and numbers of a text, except ours: counts, and remarks in brackets at the end.
fn words(text: &str) -> impl Iterator<Item = &str> {
    let ends = [" (unusual: ", " (last at line ", " (×", " (panicked at "];
    let end = ends.iter().filter_map(|end| text.rfind(end)).min().unwrap_or(text.len());
    let pieces = text[..end].split(' ').filter(|piece| !piece.starts_with('×'));
    let words = pieces.flat_map(|piece| piece.split(|c: char| !c.is_alphanumeric() && c != '_'));
    words.filter(|word| word.len() > 1 && !["of", "key", "in", "form", "more"].contains(word))
}

/// A line that represents several.
struct Repeated<'a> {
    count: u64,
    shape: Shape<'a>,
}

/// What the lines have in common, as the digest says.
enum Shape<'a> {
    /// The text between slots.
    Pattern(&'a str),
    /// At least and at most so many words, a time before them not counted.
    Words(usize, usize, &'a str),
    /// Everything but a time and numbers.
    Same(&'a str),
    /// Most words.
    Alike(&'a str),
    Begin(&'a str),
}

/// The number of words that a time before a line has at most.
const MAX_TIME_WORDS: usize = 4;

/// Parses `×12 a {1..12}`, `×12 lines of 2 words, such as a 1`, `a 1 (×12)`, `a 1 (×12 alike)`.
fn repeated(text: &str) -> Option<Repeated<'_>> {
    if let Some(rest) = text.strip_prefix('×') {
        let (count, rest) = number(rest)?;
        let rest = rest.strip_prefix('+').unwrap_or(rest).strip_prefix(' ')?;
        let shape =
            of_length(rest).or_else(|| rest.strip_prefix("like ").map(Shape::Same)).unwrap_or(Shape::Pattern(rest));
        return Some(Repeated { count, shape });
    }
    let (text, said) = text.strip_suffix(')')?.rsplit_once(" (×")?;
    let (count, rest) = number(said)?;
    let shape = match rest.trim_start_matches('+') {
        "" => Shape::Same(text),
        " alike" => Shape::Alike(text),
        " that begin alike" => Shape::Begin(text),
        _ => return None,
    };
    Some(Repeated { count, shape })
}

/// Parses `lines of 2 words, such as a 1`.
fn of_length(text: &str) -> Option<Shape<'_>> {
    let rest = text.strip_prefix("lines of ")?;
    let (is_least, rest) = rest.strip_prefix("at least ").map_or((false, rest), |rest| (true, rest));
    let (words, rest) = number(rest)?;
    let rest = rest.strip_prefix(" words, such as ").or_else(|| rest.strip_prefix(" word, such as "))?;
    let words = words as usize;
    Some(Shape::Words(words, if is_least { usize::MAX } else { words + MAX_TIME_WORDS }, rest))
}

/// Returns the words of a line, with `#` for each that has a digit.
fn form_of(line: &str) -> Vec<&str> {
    let is_value = |word: &str| word.bytes().any(|byte| byte.is_ascii_digit());
    line.split(' ').map(|word| if is_value(word) { "#" } else { word }).collect()
}

/// Returns whether two lines share most of their words, or how they begin.
fn are_alike(one: &str, other: &str) -> bool {
    let (one, other) = (form_of(one), form_of(other));
    let same = one.iter().zip(&other).filter(|(one, other)| one == other).count();
    same * 2 >= one.len().min(other.len())
}

/// How many words lines have in common that begin alike, a time before them included.
const FIRST_WORDS: usize = 3;

fn begin_alike(one: &str, other: &str) -> bool {
    form_of(one).iter().zip(form_of(other)).take(FIRST_WORDS).all(|(one, other)| *one == other)
}

fn pieces(pattern: &str) -> Vec<String> {
    let mut pieces = Vec::new();
    let mut depth = 0;
    let mut piece = String::new();
    for letter in pattern.chars() {
        match letter {
            '{' => depth += 1,
            '}' if depth > 0 => depth -= 1,
            '*' | '…' if depth == 0 => {}
            _ if depth > 0 => continue,
            _ => {
                piece.push(letter);
                continue;
            }
        }
        pieces.push(std::mem::take(&mut piece));
    }
    pieces.push(piece);
    pieces.iter().map(|piece| spaced(piece)).filter(|piece| !piece.is_empty()).collect()
}

fn fits(line: &str, pieces: &[String]) -> bool {
    let mut rest = line;
    pieces.iter().all(|piece| match rest.find(piece.as_str()) {
        Some(at) => {
            rest = &rest[at + piece.len()..];
            true
        }
        None => false,
    })
}
