//! Determines the format of a page from its media type or, if that is not specific, from its first bytes.

use url::Url;

use crate::{FetchError, text};

/// The original format of a page, which determines the format of its text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum PageFormat {
    Html,
    Markdown,
    /// JSON, with long values split over lines.
    Json,
    /// A feed, converted to Markdown.
    Feed,
    /// XML other than feeds.
    Xml,
    /// Other text, including source code.
    Plain,
}

impl PageFormat {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Html => "html",
            Self::Markdown => "markdown",
            Self::Json => "json",
            Self::Feed => "feed",
            Self::Xml => "xml",
            Self::Plain => "text",
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Media {
    pub form: PageFormat,
    /// The type, such as `text/html`.
    pub name: String,
    pub charset: Option<String>,
}

/// Media types that are text although their names do not say so.
const TEXTS: &[&str] = &[
    "application/ecmascript", "application/graphql", "application/javascript", "application/jsonl",
    "application/ndjson", "application/sql", "application/toml", "application/typescript", "application/x-httpd-php",
    "application/x-javascript", "application/x-ndjson", "application/x-perl", "application/x-python",
    "application/x-ruby", "application/x-sh", "application/x-tex", "application/x-yaml", "application/yaml",
    "message/rfc822",
];

pub(crate) fn of(said: Option<&str>, url: &Url, bytes: &[u8]) -> Result<Media, FetchError> {
    let (name, parameters) = said.unwrap_or_default().split_once(';').unwrap_or((said.unwrap_or_default(), ""));
    let name = text::one_line(name, 100).to_ascii_lowercase();
    let charset = parameters
        .split(';')
        .filter_map(|parameter| parameter.split_once('='))
        .find(|(name, _)| name.trim().eq_ignore_ascii_case("charset"))
        .map(|(_, value)| value.trim().to_owned());
    let form = match name.as_str() {
        "text/html" | "application/xhtml+xml" => Some(PageFormat::Html),
        "text/markdown" | "text/x-markdown" => Some(PageFormat::Markdown),
        "application/json" | "text/json" => Some(PageFormat::Json),
        "application/rss+xml" | "application/atom+xml" => Some(PageFormat::Feed),
        "application/xml" | "text/xml" => Some(xml(bytes)),
        "text/plain" => Some(if is_markdown(url) { PageFormat::Markdown } else { PageFormat::Plain }),
        "" | "application/octet-stream" | "binary/octet-stream" | "application/x-unknown" => sniffed(url, bytes),
        name if name.starts_with("image/") => None,
        name if name.ends_with("+json") => Some(PageFormat::Json),
        name if name.ends_with("+xml") => Some(xml(bytes)),
        name if name.starts_with("text/") || TEXTS.contains(&name) => Some(PageFormat::Plain),
        _ => None,
    };
    match form {
        Some(form) if is_text(bytes) => Ok(Media { form, name, charset }),
        Some(_) => Err(FetchError::Unsupported { media: format!("binary data called `{name}`") }),
        None if name.is_empty() => Err(FetchError::Unsupported { media: "binary data without a type".to_owned() }),
        None => Err(FetchError::Unsupported { media: format!("`{name}`") }),
    }
}

fn xml(bytes: &[u8]) -> PageFormat {
    let head = head(bytes);
    if ["<rss", "<feed", "<rdf:rdf"].iter().any(|root| head.contains(root)) {
        PageFormat::Feed
    } else if head.contains("<html") {
        PageFormat::Html
    } else {
        PageFormat::Xml
    }
}

fn sniffed(url: &Url, bytes: &[u8]) -> Option<PageFormat> {
    let head = head(bytes);
    let start = head.trim_start_matches(|c: char| c.is_whitespace() || c == '\u{feff}');
    if start.starts_with("<!doctype html") || start.starts_with("<html") {
        Some(PageFormat::Html)
    } else if start.starts_with("<?xml") || start.starts_with("<rss") || start.starts_with("<feed") {
        Some(xml(bytes))
    } else if start.starts_with(['{', '[']) && serde_json::from_slice::<serde::de::IgnoredAny>(bytes).is_ok() {
        Some(PageFormat::Json)
    } else if is_markdown(url) {
        Some(PageFormat::Markdown)
    } else {
        is_text(bytes).then_some(PageFormat::Plain)
    }
}

fn is_markdown(url: &Url) -> bool {
    let path = url.path().to_ascii_lowercase();
    [".md", ".markdown", ".mdx"].iter().any(|end| path.ends_with(end))
}

/// Returns whether bytes are text. Text has no zero bytes, unless it is UTF-16, which begins with a byte order mark.
fn is_text(bytes: &[u8]) -> bool {
    let wide = bytes.starts_with(&[0xff, 0xfe]) || bytes.starts_with(&[0xfe, 0xff]);
    wide || !bytes.get(..8 << 10).unwrap_or(bytes).contains(&0)
}

fn head(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes.get(..4 << 10).unwrap_or(bytes)).to_ascii_lowercase()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(said: Option<&str>, path: &str, bytes: &[u8], expected: Option<PageFormat>) {
        let url = Url::parse("https://example.com").unwrap().join(path).unwrap();
        assert_eq!(of(said, &url, bytes).ok().map(|media| media.form), expected, "{said:?} {path}");
    }

    #[test]
    fn types_are_told_apart() {
        check(Some("text/html; charset=utf-8"), "/", b"", Some(PageFormat::Html));
        check(Some("TEXT/HTML"), "/", b"", Some(PageFormat::Html));
        check(Some("application/vnd.api+json"), "/", b"", Some(PageFormat::Json));
        check(Some("text/xml"), "/", b"<?xml version='1.0'?><rss>", Some(PageFormat::Feed));
        check(Some("application/xml"), "/", b"<project/>", Some(PageFormat::Xml));
        check(Some("text/plain"), "/README.md", b"", Some(PageFormat::Markdown));
        check(Some("text/x-rust"), "/", b"", Some(PageFormat::Plain));
        check(Some("application/toml"), "/", b"", Some(PageFormat::Plain));
        check(None, "/", b" <!DOCTYPE html>", Some(PageFormat::Html));
        check(None, "/", b"{\"a\":1}", Some(PageFormat::Json));
        check(None, "/", b"words", Some(PageFormat::Plain));
        check(Some("application/octet-stream"), "/", b"\x7fELF\0", None);
        check(Some("text/plain"), "/", b"a\0b", None);
        check(Some("image/png"), "/", b"", None);
        check(Some("image/svg+xml"), "/", b"<svg/>", None);
        check(Some("application/zip"), "/", b"PK", None);
    }
}
