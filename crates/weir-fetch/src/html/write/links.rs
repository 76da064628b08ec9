//! Links and code within a line.

use url::Url;

/// The maximum length of a link. A longer one says nothing to a reader.
const MAX_LINK_BYTES: usize = 500;

pub(super) struct Links {
    page: Option<Url>,
    base: Option<Url>,
}

impl Links {
    /// Creates the resolver for a page at this URL, which may set another base for its links.
    pub(super) fn of(page: Option<&Url>, said: Option<&str>) -> Self {
        let base = match (page, said) {
            (Some(page), Some(said)) => page.join(said).ok().or_else(|| Some(page.clone())),
            (page, _) => page.cloned(),
        };
        Self { page: page.cloned(), base }
    }

    /// Returns a link's target as it is written: a path if it is on the page's own host. Returns `None` for a link
    /// within the page or to code.
    pub(super) fn resolve(&self, link: &str) -> Option<String> {
        if link.is_empty() || link.starts_with('#') {
            return None;
        }
        let Some(base) = &self.base else {
            let scheme = link.split(['/', '?', '#']).next().unwrap_or_default().split_once(':');
            let is_plain = scheme.is_none_or(|(scheme, _)| matches!(scheme, "http" | "https"));
            return (is_plain && link.len() <= MAX_LINK_BYTES).then(|| enclosed(link));
        };
        let whole = base.join(link).ok().filter(|whole| matches!(whole.scheme(), "http" | "https"))?;
        let shown = if self.page.as_ref().is_some_and(|page| page.origin() == whole.origin()) {
            whole.as_str().get(whole.origin().ascii_serialization().len()..).unwrap_or(whole.as_str())
        } else {
            whole.as_str()
        };
        (shown.len() <= MAX_LINK_BYTES).then(|| enclosed(shown))
    }
}

/// Encloses a target that would otherwise end early.
fn enclosed(link: &str) -> String {
    let link: String = link.chars().filter(|c| !c.is_control() && !matches!(c, '<' | '>')).collect();
    if link.contains([' ', '(', ')']) { format!("<{link}>") } else { link }
}

pub(super) fn link(text: &str, link: Option<&str>) -> String {
    match link {
        // A sign that links to its own heading.
        None if matches!(text, "¶" | "#" | "§" | "🔗" | "Permalink" | "[link]") => String::new(),
        None => text.to_owned(),
        Some(link) if link == text && link.starts_with("http") => format!("<{link}>"),
        Some(link) => {
            let text = text.replace('\n', " ");
            format!("[{text}]({link})")
        }
    }
}

pub(super) fn code(text: &str) -> String {
    let text = text.replace('\n', " ");
    if text.contains('`') {
        let ticks = ticks(&text, 1);
        format!("{ticks} {text} {ticks}")
    } else {
        format!("`{text}`")
    }
}

/// Returns more backticks than any run in a text has.
pub(super) fn ticks(text: &str, least: usize) -> String {
    let (mut most, mut now) = (0, 0);
    for byte in text.bytes() {
        now = if byte == b'`' { now + 1 } else { 0 };
        most = most.max(now);
    }
    "`".repeat(least.max(most + 1))
}
