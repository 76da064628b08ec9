//! What must hold for the digest of any bytes.

use weir_core::Reference;
use weir_digest::{About, Digest, Frame, Page};

#[path = "../../crates/weir-digest/tests/it/openers.rs"]
mod openers;

/// A reference that no input knows.
const MARK: &str = "k7f2m9q4xz";
/// What a foot says more when parts are hidden, in tokens.
const HIDDEN: usize = 8;

/// Digests an output and checks what must hold. What costs much and seldom fails is checked for some outputs only.
pub fn check(raw: &[u8]) {
    let page = read(raw);
    check_page(&page, raw);
    let budget = weir_digest::budget(raw.len() as u64);
    match raw.len() % 4 {
        0 => assert_eq!(page, read(raw), "the same output gives another page"),
        1 => check_digest(&page, raw, budget / 8),
        _ => check_digest(&page, raw, budget),
    }
}

/// The facts of an output.
pub fn read(raw: &[u8]) -> Page {
    weir_digest::read(&raw, About::default()).expect("bytes can be read")
}

/// The counts of a page are those of its output.
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

/// A digest keeps to its budget, its marks and its headings.
pub fn check_digest(page: &Page, raw: &[u8], budget: usize) {
    let digest = render(page, raw, budget);
    let text = digest.to_string();
    let tokens = weir_tokens::count(&text);
    if tokens > budget {
        let around = render(&Page::new(page.what.as_str()), raw, budget).to_string();
        assert!(tokens <= weir_tokens::count(&around) + HIDDEN, "{tokens} tokens of {budget}:\n{text}");
    }
    assert!(digest.body.starts_with(&format!("<<<{MARK}\n")) && digest.body.ends_with(&format!("\n{MARK}>>>")));
    if !raw.windows(MARK.len()).any(|window| window == MARK.as_bytes()) {
        assert_eq!(digest.body.matches(MARK).count(), 2, "{text}");
    }
    let headings = digest.body.lines().filter_map(|line| line.strip_prefix("== "));
    for heading in headings {
        let ours = page.parts.iter().any(|part| heading.starts_with(&part.name));
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

/// A line that the kinds take notice of, one for each number.
pub fn opener(number: usize) -> &'static str {
    openers::OPENERS[number % openers::OPENERS.len()]
}

/// The first line as a text, and the bytes after it: a question and what it is asked of.
pub fn asked(data: &[u8]) -> (String, &[u8]) {
    let end = data.iter().position(|&byte| byte == b'\n').unwrap_or(0);
    let rest = data.get(end + 1..).unwrap_or_default();
    (String::from_utf8_lossy(&data[..end]).into_owned(), rest)
}
