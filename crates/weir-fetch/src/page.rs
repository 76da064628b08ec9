//! Builds a page as it is stored: text that is easy to read and search, with its metadata.

use url::Url;

use crate::body::BodyContent;
use crate::media::{self, PageFormat};
use crate::{FetchError, charset, feed, html, json, text};

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Fetched {
    /// The page is unchanged since the stored version.
    Unchanged,
    Page(Box<Page>),
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Page {
    /// The final URL, after redirects.
    pub url: String,
    pub redirects: u8,
    /// The page's own title, or the last part of its URL.
    pub title: String,
    /// The media type sent by the server, such as `text/html`.
    pub media: String,
    pub form: PageFormat,
    pub text: String,
    /// The entity tag, to check later whether the page has changed.
    pub etag: Option<String>,
    /// The modification date, to check later whether the page has changed.
    pub last_modified: Option<String>,
    /// The number of bytes received over the network.
    pub received: u64,
    /// What was cut or changed, and why: in our own words, without any of the page's.
    pub notes: Vec<String>,
}

/// Metadata of a page that is known before its body is read.
pub(crate) struct PageOrigin {
    pub url: Url,
    pub redirects: u8,
    pub media: Option<String>,
    pub etag: Option<String>,
    pub last_modified: Option<String>,
}

pub(crate) fn build(origin: PageOrigin, content: BodyContent) -> Result<Page, FetchError> {
    let BodyContent { bytes, received, mut notes } = content;
    let media = media::of(origin.media.as_deref(), &origin.url, &bytes)?;
    let (decoded, replaced) = charset::decode(&bytes, media.charset.as_deref());
    drop(bytes);
    notes.extend(replaced);
    let (title, text) = convert(media.form, decoded, &origin.url, &mut notes);
    let (text, hidden) = text::without_invisible(text::with_plain_line_ends(text));
    if hidden > 0 {
        notes.push(format!("removed {hidden} invisible characters"));
    }
    if text.trim().is_empty() {
        return Err(FetchError::Empty { url: origin.url.to_string() });
    }
    let title = text::one_line(&text::without_invisible(title.unwrap_or_default()).0, 200);
    Ok(Page {
        title: if title.is_empty() { name(&origin.url) } else { title },
        url: origin.url.to_string(),
        redirects: origin.redirects,
        media: media.name,
        form: media.form,
        text,
        etag: origin.etag,
        last_modified: origin.last_modified,
        received,
        notes,
    })
}

fn convert(form: PageFormat, decoded: String, url: &Url, notes: &mut Vec<String>) -> (Option<String>, String) {
    match form {
        PageFormat::Html => {
            let converted = html::to_markdown(&decoded, Some(url));
            notes.extend(converted.notes);
            (converted.title, converted.markdown)
        }
        PageFormat::Feed => {
            let feed = feed::to_markdown(&decoded, url);
            notes.extend(feed.notes);
            if feed.markdown.is_empty() { (None, decoded) } else { (feed.title, feed.markdown) }
        }
        PageFormat::Json => match json::by_lines(&decoded) {
            Some(lines) => (None, lines),
            None => {
                notes.push("not valid JSON, so it is stored unchanged".to_owned());
                (None, decoded)
            }
        },
        PageFormat::Markdown => (heading(&decoded), decoded),
        PageFormat::Xml | PageFormat::Plain => (None, decoded),
    }
}

fn heading(text: &str) -> Option<String> {
    let line = text.lines().take(40).find_map(|line| line.strip_prefix("# "))?;
    Some(line.trim().trim_end_matches('#').trim().to_owned())
}

/// Returns the last part of a URL, as the title of a page that has none.
fn name(url: &Url) -> String {
    let host = url.host_str().unwrap_or_default();
    match url.path_segments().and_then(|mut parts| parts.rfind(|part| !part.is_empty())) {
        Some(last) => text::one_line(&format!("{last} ({host})"), 200),
        None => host.to_owned(),
    }
}
