//! The attributes of an element that matter here, as the tree keeps them.

use super::tags::Tag;
use super::tokens::Attributes;

/// The attributes that matter here.
#[derive(Default)]
pub(super) struct ElementAttributes {
    /// The target of a link, or the source of an image.
    pub link: String,
    /// The alternative text of an image.
    pub alt: String,
    /// Class, id and role, in lower case.
    pub names: String,
    /// The first number of a list.
    pub start: Option<u32>,
    /// The number of columns and rows that a cell spans.
    pub span: Option<CellSpan>,
}

/// The number of columns and rows that a cell spans.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct CellSpan {
    pub columns: usize,
    pub rows: usize,
}

impl CellSpan {
    /// The span of most cells.
    pub(super) const ONE: Self = Self { columns: 1, rows: 1 };

    /// Reads the span of a cell. Wider and longer ones than these are not tables that a person reads.
    fn of(attributes: &Attributes) -> Self {
        let number = |name: &str| attributes.text(name).parse::<usize>().ok();
        Self {
            columns: number("colspan").unwrap_or(1).clamp(1, 50),
            rows: number("rowspan").unwrap_or(1).clamp(1, 1_000),
        }
    }
}

pub(super) fn of(tag: Tag, attributes: &Attributes) -> Option<Box<ElementAttributes>> {
    let mut element = ElementAttributes::default();
    match tag {
        Tag::A => element.link = attributes.text("href"),
        Tag::Img => {
            element.link = attributes.text("src");
            element.alt = attributes.beginning_of_text("alt");
        }
        Tag::Ol => element.start = attributes.text("start").parse().ok(),
        Tag::Td | Tag::Th => element.span = Some(CellSpan::of(attributes)).filter(|span| *span != CellSpan::ONE),
        _ => {}
    }
    if (tag.is_block() || tag == Tag::Code) && !attributes.is_empty() {
        let names = ["class", "id", "role"].map(|name| attributes.beginning_of_text(name)).join(" ");
        element.names = names.trim().to_ascii_lowercase();
    }
    let has_text = !element.link.is_empty() || !element.alt.is_empty() || !element.names.is_empty();
    let has_any = has_text || element.start.is_some() || element.span.is_some();
    has_any.then(|| Box::new(element))
}

/// Returns the target in `0; url=…`, unless a person would have time to read the page before.
pub(super) fn forwards_to(content: &str) -> Option<&str> {
    const MAX_DELAY_SECONDS: f64 = 10.0;
    let (delay, rest) = content.split_once([';', ','])?;
    let (name, target) = rest.split_once('=')?;
    let is_soon = delay.trim().parse::<f64>().is_ok_and(|delay| delay <= MAX_DELAY_SECONDS);
    (is_soon && name.trim().eq_ignore_ascii_case("url")).then(|| target.trim().trim_matches(['"', '\'']))
}
