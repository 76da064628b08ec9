//! A page as it is kept: its text in a form that is read and searched well, and what is known of it.

use url::Url;

use crate::body::Content;
use crate::media::{self, Form};
use crate::{FetchError, charset, feed, html, json, text};

/// What came of a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Fetched {
    /// The page that is kept is still the page.
    Unchanged,
    /// The page.
    Page(Box<Page>),
}

/// A page.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Page {
    /// Where it was in the end.
    pub url: String,
    /// How often one was sent on before.
    pub redirects: u8,
    /// What it calls itself, else the end of its address.
    pub title: String,
    /// Its type as the server says, such as `text/html`.
    pub media: String,
    /// What it was.
    pub form: Form,
    /// Its text.
    pub text: String,
    /// To ask later whether it has changed.
    pub etag: Option<String>,
    /// To ask later whether it has changed.
    pub last_modified: Option<String>,
    /// Bytes that came over the network.
    pub received: u64,
    /// What was cut or changed, and why.
    pub notes: Vec<String>,
}

/// What is known of a page before it is read.
pub(crate) struct Origin {
    pub url: Url,
    pub redirects: u8,
    pub media: Option<String>,
    pub etag: Option<String>,
    pub last_modified: Option<String>,
}

/// Makes a page of its bytes.
pub(crate) fn build(origin: Origin, content: Content) -> Result<Page, FetchError> {
    let Content { bytes, received, mut notes } = content;
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

fn convert(form: Form, decoded: String, url: &Url, notes: &mut Vec<String>) -> (Option<String>, String) {
    match form {
        Form::Html => {
            let converted = html::to_markdown(&decoded, Some(url));
            notes.extend(converted.notes);
            (converted.title, converted.markdown)
        }
        Form::Feed => {
            let feed = feed::to_markdown(&decoded, url);
            notes.extend(feed.notes);
            if feed.markdown.is_empty() { (None, decoded) } else { (feed.title, feed.markdown) }
        }
        Form::Json => match json::by_lines(&decoded) {
            Some(lines) => (None, lines),
            None => {
                notes.push("not valid JSON, so it is stored unchanged".to_owned());
                (None, decoded)
            }
        },
        Form::Markdown => (heading(&decoded), decoded),
        Form::Xml | Form::Plain => (None, decoded),
    }
}

/// The first heading of a Markdown text.
fn heading(text: &str) -> Option<String> {
    let line = text.lines().take(40).find_map(|line| line.strip_prefix("# "))?;
    Some(line.trim().trim_end_matches('#').trim().to_owned())
}

/// The end of an address, for a page that has no title.
fn name(url: &Url) -> String {
    let host = url.host_str().unwrap_or_default();
    match url.path_segments().and_then(|mut parts| parts.rfind(|part| !part.is_empty())) {
        Some(last) => text::one_line(&format!("{last} ({host})"), 200),
        None => host.to_owned(),
    }
}
