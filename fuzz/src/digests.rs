//! Fuzzes digests with output that no program ever printed.

use weir_core::Reference;
use weir_digest::select::{Wanted, select as select_from};
use weir_digest::{About, Digest, Frame, Page, intent as intents};

#[path = "../../crates/weir-digest/tests/it/openers.rs"]
mod openers;

/// A reference that no input knows.
const MARK: &str = "k7f2m9q4xz";
/// The additional tokens in the footer when parts are hidden.
const HIDDEN: usize = 8;

/// The maximum length of an input, in bytes. Short inputs allow many attempts; other tests cover the time for big
/// outputs.
const LONGEST: usize = 8_000;

pub(crate) fn digest(data: &[u8]) {
    check(data);
}

/// Digests lines that the kinds recognise: in any order, cut, repeated, numbered, and mixed with other bytes.
pub(crate) fn lines(data: &[u8]) {
    check(&written(data));
}

/// Reads a question from the first line, and asks it about the rest.
pub(crate) fn intent(data: &[u8]) {
    let (question, raw) = crate::first_line(data);
    let find = || intents::find(&raw, &question).expect("bytes can be read");
    let mut page = read(raw);
    let matches = find().parts(&page);
    assert_eq!(matches, find().parts(&page), "the same question finds something else");
    assert!(matches.iter().all(|part| part.total == 0 || part.total >= part.items.len() as u64));
    page.parts.splice(0..0, matches);
    check_digest(&page, raw, weir_digest::budget(raw.len() as u64));
}

/// Reads a path or columns from the first line, and selects them from the rest.
pub(crate) fn select(data: &[u8]) {
    let (what, raw) = crate::first_line(data);
    let wanted = Wanted { first: 1, last: 20, room: 2_000 };
    let Ok(selected) = select_from(&raw, &what, wanted, &|line| line.len() % 7 != 0) else { return };
    assert!(selected.lines.len() as u64 <= selected.total.min(wanted.last));
    assert!(selected.lines.iter().map(|line| line.len() + 1).sum::<usize>() <= wanted.room);
    assert_eq!(select_from(&raw, &what, wanted, &|line| line.len() % 7 != 0).ok(), Some(selected));
}

/// Digests an output and checks the invariants. Expensive checks that rarely fail run for some outputs only.
fn check(raw: &[u8]) {
    let page = read(raw);
    check_page(&page, raw);
    let budget = weir_digest::budget(raw.len() as u64);
    match raw.len() % 4 {
        0 => assert_eq!(page, read(raw), "the same output gives another page"),
        1 => check_digest(&page, raw, budget / 8),
        _ => check_digest(&page, raw, budget),
    }
}

fn read(raw: &[u8]) -> Page {
    weir_digest::read(&raw, About::default()).expect("bytes can be read")
}

/// Checks that the counts of a page match its output.
fn check_page(page: &Page, raw: &[u8]) {
    let lines = 1 + raw.iter().filter(|&&byte| byte == b'\n').count() as u64;
    assert!(!page.what.contains(['\n', '\x1b']), "{:?}", page.what);
    for part in &page.parts {
        let shown = part.items.len() as u64;
        assert!(part.total == 0 || part.total >= shown, "{shown} of {} {}", part.total, part.name);
        assert!(!part.name.is_empty() && !part.name.contains('\n'), "{:?}", part.name);
        for item in &part.items {
            assert!(item.line.is_none_or(|line| (1..=lines).contains(&line)), "{item:?} of {lines} lines");
        }
    }
}

/// Checks that a digest keeps to its budget, its marks and its headings.
fn check_digest(page: &Page, raw: &[u8], budget: usize) {
    let digest = render(page, raw, budget);
    let text = digest.to_string();
    let tokens = weir_tokens::count(&text);
    if tokens > budget {
        let around = render(&Page::new(page.what.as_str()), raw, budget).to_string();
        assert!(tokens <= weir_tokens::count(&around) + HIDDEN, "{tokens} tokens of {budget}:\n{text}");
    }
    assert!(digest.body.starts_with(&format!("<<<{MARK}\n")) && digest.body.ends_with(&format!("\n{MARK}>>>")));
    // The mark may also appear when hidden bytes are removed from between its letters.
    let plain: Vec<u8> = raw.iter().copied().filter(u8::is_ascii_alphanumeric).collect();
    if !plain.windows(MARK.len()).any(|window| window == MARK.as_bytes()) {
        assert_eq!(digest.body.matches(MARK).count(), 2, "{text}");
    }
    let headings = digest.body.lines().filter_map(|line| line.strip_prefix("== "));
    for heading in headings {
        let ours =
            heading.starts_with("lines in order: ") || page.parts.iter().any(|part| heading.starts_with(&part.name));
        assert!(ours, "a heading that is not ours: {heading}");
    }
    let acted_on = |c: char| c.is_control() && c != '\n' && c != '\t';
    assert!(!text.contains(acted_on), "what a terminal acts on: {text:?}");
}

fn render(page: &Page, raw: &[u8], budget: usize) -> Digest {
    let frame = Frame {
        head: "exit 0 in 12 ms",
        remarks: &[],
        reference: Reference::parse(MARK).expect("it is one"),
        lines: raw.iter().filter(|&&byte| byte == b'\n').count() as u64,
        bytes: raw.len() as u64,
        read_on: "more: ctx_get with lines, pattern, select or intent",
    };
    page.render(&frame, budget)
}

/// Returns a line that the kinds recognise, one for each number.
fn opener(number: usize) -> &'static str {
    openers::OPENERS[number % openers::OPENERS.len()]
}

/// Interprets the bytes as instructions for what to write next.
fn written(data: &[u8]) -> Vec<u8> {
    let mut orders = data.iter().copied();
    let mut text = Vec::new();
    let mut block = 0;
    while let Some(order) = orders.next() {
        let mut next = || usize::from(orders.next().unwrap_or_default());
        match order % 8 {
            0..=2 => text.extend_from_slice(opener(next()).as_bytes()),
            3 => {
                let whole = opener(next());
                text.extend_from_slice(&whole.as_bytes()[..next().min(whole.len())]);
            }
            4 => {
                let length = next();
                text.extend(orders.by_ref().take(length));
            }
            5 => {
                let (opener, number) = (opener(next()), next());
                text.extend_from_slice(format!("{}{opener}{number}", " ".repeat(number % 9)).as_bytes());
            }
            6 => {
                let end = text.len();
                for _ in 0..next() % 32 {
                    text.extend_from_within(block..end);
                    if text.len() > LONGEST {
                        return text;
                    }
                }
                block = text.len();
                continue;
            }
            // No line end, so two lines become one.
            _ => continue,
        }
        if order < 240 {
            text.push(b'\n');
        }
        if text.len() > LONGEST {
            return text;
        }
    }
    text
}
