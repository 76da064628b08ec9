//! Checks the statements of a digest against the output itself, without the code that made the digest.
//!
//! A statement is a line number with a text, a count with what it counts, or a range. A statement that the output
//! contradicts is wrong; one that the oracle cannot check is counted as unchecked.

use weir_digest::{Item, Lines, Page, Part};

/// How many lines before the number of a block, and how many after it, may contain its words.
const MAX_LINES_BEFORE: u64 = 100;
const MAX_BLOCK_LINES: u64 = 400;
/// The maximum length of a line that is read completely.
const MAX_LINE_BYTES: usize = 60_000;

/// The result of checking the statements of one digest.
#[derive(Default)]
pub(crate) struct Verdict {
    /// Statements that the output confirms.
    pub right: usize,
    /// Numbers that the oracle cannot check.
    pub unchecked: usize,
    /// Statements that the output contradicts, each with the reason.
    pub wrong: Vec<String>,
}

/// Checks every statement of a page.
pub(crate) fn examine(raw: &[u8], page: &Page) -> Verdict {
    let output = Output::of(raw);
    let mut verdict = Verdict::default();
    for part in &page.parts {
        verdict.rule(part.total == 0 || part.total >= part.items.len() as u64, || {
            format!("{}: {} are kept of {}", part.name, part.items.len(), part.total)
        });
        part.items.iter().for_each(|item| examine_item(&output, part, item, &mut verdict));
    }
    page.what.split("; ").for_each(|words| examine_counts(&output, words, &mut verdict));
    examine_errors(page, &mut verdict);
    verdict
}

impl Verdict {
    fn rule(&mut self, right: bool, why: impl FnOnce() -> String) {
        if right {
            self.right += 1;
        } else {
            self.wrong.push(why());
        }
    }
}

/// The lines of an output, as a terminal shows them, with single spaces.
struct Output {
    lines: Vec<String>,
    /// The number of each line.
    numbers: Vec<u64>,
    raw: String,
}

impl Output {
    fn of(raw: &[u8]) -> Self {
        let (mut lines, mut numbers) = (Vec::new(), Vec::new());
        let mut all = Lines::of(&raw).unwrap();
        while let Some(line) = all.read().unwrap() {
            lines.push(spaced(line.text));
            numbers.push(line.number);
        }
        Self { lines, numbers, raw: String::from_utf8_lossy(raw).into_owned() }
    }

    fn line(&self, number: u64) -> Option<&str> {
        let place = self.numbers.binary_search(&number).ok()?;
        self.lines.get(place).map(String::as_str)
    }

    fn between(&self, first: u64, last: u64) -> impl Iterator<Item = &str> {
        let all = self.numbers.iter().zip(&self.lines);
        all.filter(move |(number, _)| (first..=last).contains(number)).map(|(_, line)| line.as_str())
    }

    fn count(&self, is: impl Fn(&str) -> bool) -> u64 {
        self.lines.iter().filter(|line| is(line)).count() as u64
    }
}

fn spaced(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Checks `12 error lines` against the errors that are shown one by one.
fn examine_errors(page: &Page, verdict: &mut Verdict) {
    let parts = page.parts.iter().filter(|part| part.folded && part.name == "errors");
    let Some(part) = parts.clone().next().filter(|part| parts.count() == 1 && part.items.len() as u64 == part.total)
    else {
        return;
    };
    let of_item = |item: &Item| counted(item.text.lines().next().unwrap_or_default()).map_or(1, |(count, _)| count);
    let told: u64 = part.items.iter().map(of_item).sum();
    let words = if told == 1 { "1 error line".to_owned() } else { format!("{told} error lines") };
    // The very last line is among the last lines, whatever it says.
    let and_last = format!("{} error line", told + 1);
    verdict.rule(page.what.contains(&words) || page.what.contains(&and_last), || {
        format!("{told} error lines are told, and `{}` is said", page.what)
    });
}

/// Checks a line of a fold: its position, how many lines are similar, and up to where.
fn examine_item(output: &Output, part: &Part, item: &Item, verdict: &mut Verdict) {
    let Some(number) = item.line else { return };
    let first = item.text.lines().next().unwrap_or_default();
    let Some(line) = output.line(number) else {
        return verdict.wrong.push(format!("{}: there is no line {number}", part.name));
    };
    if !part.folded {
        // Other kinds describe a block in our words and those of its lines.
        let block: Vec<&str> =
            output.between(number.saturating_sub(MAX_LINES_BEFORE), number + MAX_BLOCK_LINES).collect();
        let words: Vec<&str> = words(uncut(first)).collect();
        let long = block.iter().any(|line| line.len() > MAX_LINE_BYTES);
        let is_there =
            |word: &&&str| block.iter().any(|line| line.contains(**word)) || long && output.raw.contains(**word);
        let there = words.iter().filter(is_there).count();
        return verdict
            .rule(there * 2 >= words.len(), || format!("{}: line {number} is `{line}`, not `{first}`", part.name));
    }
    let last = item.until.unwrap_or(number);
    match counted(first) {
        Some((count, Shape::Pattern(pattern))) => {
            let pieces = pieces(pattern);
            let alike = output.between(number, last).filter(|line| fits(line, &pieces)).count() as u64;
            verdict.rule(alike >= count && fits(line, &pieces), || {
                format!("lines {number} to {last}: {alike} are like `{pattern}`, not {count}")
            });
            let end = output.line(last).unwrap_or_default();
            verdict.rule(fits(end, &pieces), || format!("line {last} is `{end}`, not like `{pattern}`"));
        }
        Some((count, Shape::Line(text))) => {
            verdict.rule(line.contains(&spaced(uncut(text))), || format!("line {number} is `{line}`, not `{text}`"));
            let lines = output.between(number, last).filter(|line| !line.is_empty()).count() as u64;
            verdict.rule(count <= lines, || format!("lines {number} to {last} cannot be {count}"));
        }
        None => {
            let text = spaced(uncut(first));
            verdict.rule(line.contains(&text), || format!("line {number} is `{line}`, not `{text}`"));
        }
    }
    for more in item.text.lines().skip(1).map(str::trim) {
        let (at, text) = match more.split_once(": ").map(|(at, text)| (at.parse::<u64>(), text)) {
            Some((Ok(at), text)) => (at, text),
            _ if more.starts_with("values: ") => continue,
            _ => (0, more),
        };
        let text = spaced(uncut(text));
        let there = match at {
            0 => output.between(number, number + 20).any(|line| line.contains(&text)),
            at => output.line(at).is_some_and(|line| line.contains(&text)),
        };
        verdict.rule(there, || format!("`{text}` does not stand below line {number}"));
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

/// What a line that represents several shows of them.
enum Shape<'a> {
    Pattern(&'a str),
    Line(&'a str),
}

/// Parses `×12 a {1..12}`, `×12 like a 1`, `a 1 (×12)`.
fn counted(text: &str) -> Option<(u64, Shape<'_>)> {
    if let Some(rest) = text.strip_prefix('×') {
        let (count, rest) = rest.split_once(' ')?;
        let count = count.trim_end_matches('+').parse().ok()?;
        return Some((count, rest.strip_prefix("like ").map_or(Shape::Pattern(rest), Shape::Line)));
    }
    let (text, count) = text.strip_suffix(')')?.rsplit_once(" (×")?;
    Some((count.trim_end_matches('+').parse().ok()?, Shape::Line(text)))
}

/// Returns a text without the words that say how much was cut from it.
fn uncut(text: &str) -> &str {
    match text.rsplit_once("… (") {
        Some((before, cut)) if cut.ends_with(" more bytes)") => before,
        _ => text,
    }
}

/// Returns the text between the slots of a pattern.
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

/// Checks `git log: 3 commits, 2 authors`: each number followed by a word.
fn examine_counts(output: &Output, words: &str, verdict: &mut Verdict) {
    let (kind, counts) = words.rsplit_once(": ").unwrap_or(("", words));
    let kind = kind.rsplit(": ").next().unwrap_or(kind);
    for claim in counts.split(", ") {
        let Some((count, unit)) = claim.split_once(' ') else { continue };
        let Ok(count) = count.parse::<u64>() else { continue };
        match known(output, kind, unit) {
            Some(found) => verdict.rule(found == count, || format!("{kind}: {claim}, but there are {found}")),
            // A total that the output itself states.
            None if output.raw.contains(&format!("{count} {}", unit.split(' ').next().unwrap_or_default())) => {
                verdict.right += 1;
            }
            None => verdict.unchecked += 1,
        }
    }
}

/// Returns how many there are, counted in the simplest way.
fn known(output: &Output, kind: &str, unit: &str) -> Option<u64> {
    let has = |text: &str| output.count(|line| line.contains(text));
    let unit = unit.split(" in ").next().unwrap_or(unit);
    Some(match (kind, unit) {
        ("tests", "passed") => stated(output, "pass ", " passing")?,
        ("tests", "failed") => stated(output, "fail ", " failing").unwrap_or(0),
        ("git log", "commits") => starts_with_hash(output),
        ("git log, one line each", "commits") => {
            output.count(|line| hash(line.trim_start_matches(['*', '|', '/', '\\', ' ', '_'])).is_some())
        }
        // A list of files with their counts has no such lines.
        ("git diff", "files") => Some(has("diff --git ").max(has("diff --cc "))).filter(|count| *count > 0)?,
        ("tsc", "errors") => output.count(|line| line.contains(": error TS") || line.contains(" - error TS")),
        ("access log", "requests") => output.count(|line| line.contains("\" ") || line.contains("HTTP/")),
        ("JSON lines", "records") => output.count(|line| line.starts_with('{') && line.ends_with('}')),
        _ => return None,
    })
}

/// Returns the number that the last line of totals states: `# pass 163`, `58 passing`.
fn stated(output: &Output, before: &str, after: &str) -> Option<u64> {
    let number = |line: &String| {
        let text = line.trim_start_matches(['#', 'ℹ', ' ']);
        let count = text.strip_prefix(before).or_else(|| text.split_once(after).map(|(count, _)| count))?;
        count.trim().parse().ok()
    };
    output.lines.iter().rev().find_map(number)
}

/// Counts lines with `commit` or `Commit:` and a full hash.
fn starts_with_hash(output: &Output) -> u64 {
    let name = |line: &str| {
        ["commit ", "Commit: ", "From "].iter().find_map(|word| hash(line.strip_prefix(word)?).map(str::len))
    };
    output.count(|line| name(line) == Some(40))
}

/// Returns the hash at the beginning of a text.
fn hash(text: &str) -> Option<&str> {
    let word = text.split(' ').next()?;
    let is_name = (7..=40).contains(&word.len()) && word.bytes().all(|byte| byte.is_ascii_hexdigit());
    is_name.then_some(word)
}
