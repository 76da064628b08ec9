//! Fetches one page, following its redirects.
//!
//! Invariant: each URL is checked as if it were the first, and one time limit covers all of them.

use std::time::{Duration, Instant};

use ureq::http::{HeaderMap, Response};
use url::Url;

use crate::page::{self, PageOrigin};
use crate::{FetchError, Fetched, Fetcher, Request, body};

/// The length of a date in a header. Anything longer does not say when to retry.
const MAX_TIME_CHARS: usize = "Wed, 21 Oct 2026 07:28:00 GMT".len();

/// Fetches a page, unless it is unchanged since the stored version.
pub fn fetch(request: &Request, fetcher: &Fetcher) -> Result<Fetched, FetchError> {
    let began = Instant::now();
    let first = parse(&request.url)?;
    let mut url = first.clone();
    let mut redirects = 0;
    loop {
        fetcher.settings.guard.check_url(&url)?;
        let left = time_left(fetcher, &url, began)?;
        // The validators of one host are not sent to another.
        let validators = (url.host() == first.host()).then_some(request);
        let response = fetcher.send(&url, validators, left)?;
        match response.status().as_u16() {
            304 if validators.is_some_and(|it| it.etag.is_some() || it.last_modified.is_some()) => {
                return Ok(Fetched::Unchanged);
            }
            301 | 302 | 303 | 307 | 308 => {
                let next = next(&url, response.headers(), fetcher.settings.downgrade)?;
                if redirects == fetcher.settings.limits.redirects {
                    let most = fetcher.settings.limits.redirects;
                    return Err(FetchError::TooManyRedirects { most, url: next.to_string() });
                }
                redirects += 1;
                url = next;
            }
            200..=299 => return read(fetcher, url, redirects, response),
            status => {
                let retry = header(response.headers(), "retry-after").filter(|time| time.len() <= MAX_TIME_CHARS);
                return Err(FetchError::Status { url: url.to_string(), status, retry });
            }
        }
    }
}

fn read(fetcher: &Fetcher, url: Url, redirects: u8, response: Response<ureq::Body>) -> Result<Fetched, FetchError> {
    let (parts, stream) = response.into_parts();
    let encoding = header(&parts.headers, "content-encoding").unwrap_or_default();
    let body = body::read(stream.into_reader(), &encoding, &fetcher.settings.limits).map_err(|error| match error {
        body::ReadError::Network(error) => fetcher.explain(&url, error),
        body::ReadError::Encoding(why) => {
            FetchError::Broken { host: url.host_str().unwrap_or_default().to_owned(), why }
        }
    })?;
    let origin = PageOrigin {
        url,
        redirects,
        media: header(&parts.headers, "content-type"),
        etag: header(&parts.headers, "etag"),
        last_modified: header(&parts.headers, "last-modified"),
    };
    page::build(origin, body).map(|page| Fetched::Page(Box::new(page)))
}

/// Parses a URL. The default scheme is https; the fragment is dropped.
pub fn parse(text: &str) -> Result<Url, FetchError> {
    let text = text.trim();
    let mut url = Url::parse(text)
        .or_else(|error| match error {
            url::ParseError::RelativeUrlWithoutBase if text.starts_with(char::is_alphanumeric) => {
                Url::parse(&format!("https://{text}"))
            }
            error => Err(error),
        })
        .map_err(|error| FetchError::Url { text: crate::text::one_line(text, 200), why: error.to_string() })?;
    url.set_fragment(None);
    Ok(url)
}

fn next(from: &Url, headers: &HeaderMap, downgrade: bool) -> Result<Url, FetchError> {
    let host = from.host_str().unwrap_or_default();
    let broken = |why: &str| FetchError::Broken { host: host.to_owned(), why: why.to_owned() };
    let location = headers.get("location").ok_or_else(|| broken("a redirect without a location"))?;
    let location = String::from_utf8_lossy(location.as_bytes());
    let mut to = from.join(&location).map_err(|_| broken("a redirect to an invalid URL"))?;
    to.set_fragment(None);
    if from.scheme() == "https" && to.scheme() == "http" && !downgrade {
        return Err(FetchError::Downgrade { url: to.to_string() });
    }
    Ok(to)
}

fn header(headers: &HeaderMap, name: &str) -> Option<String> {
    let value = headers.get(name)?.to_str().ok()?.trim();
    (!value.is_empty() && value.len() <= 1_000).then(|| value.to_owned())
}

fn time_left(fetcher: &Fetcher, url: &Url, began: Instant) -> Result<Duration, FetchError> {
    let after = fetcher.settings.limits.time;
    after
        .checked_sub(began.elapsed())
        .filter(|left| !left.is_zero())
        .ok_or_else(|| FetchError::TooSlow { host: url.host_str().unwrap_or_default().to_owned(), after })
}
