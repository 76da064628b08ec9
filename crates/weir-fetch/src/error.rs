//! Errors of fetching. Invariants: every message says what is wrong; [`FetchError::hint`] says what to do next; of what
//! a server chose, such as the target of a redirect, a message shows only the beginning.

use std::net::IpAddr;
use std::time::Duration;

use crate::text;

/// The maximum length of a name, a URL or a reason in a message, in characters.
const MAX_SHOWN_CHARS: usize = 200;

/// The reason why a page could not be fetched.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum FetchError {
    /// The URL cannot be parsed.
    #[error("`{}` is not a valid URL: {why}", short(text))]
    Url { text: String, why: String },
    /// The scheme is neither http nor https.
    #[error("cannot fetch `{}:` URLs, only http and https", short(scheme))]
    Scheme { scheme: String },
    /// The URL contains a user name or a password.
    #[error("the URL contains a user name or password")]
    Credentials,
    /// The host is this machine, in a private network, or a metadata service.
    #[error("{}{} is on this machine or in a private network", short(host), address.map(|address| format!(" ({address})")).unwrap_or_default())]
    Private {
        host: String,
        /// The address that its name resolves to, unless the name alone was enough.
        address: Option<IpAddr>,
    },
    /// The user's rules deny the host.
    #[error("{} is denied", short(host))]
    Denied { host: String },
    /// The name does not resolve to an address.
    #[error("cannot resolve {}", short(host))]
    NoSuchHost { host: String },
    #[error("cannot reach {}: {}", short(host), short(why))]
    Unreachable { host: String, why: String },
    /// The proxy refused the connection or cannot be reached.
    #[error("the proxy cannot connect to {}: {}", short(host), short(why))]
    Proxy { host: String, why: String },
    /// The certificate is not trusted, or the handshake failed.
    #[error("cannot make a trusted connection to {}: {}", short(host), short(why))]
    Untrusted { host: String, why: String },
    /// The request took longer than the limit.
    #[error("{} took longer than {} s", short(host), after.as_secs_f32())]
    TooSlow { host: String, after: Duration },
    /// There are too many redirects, or they form a loop.
    #[error("redirected more than {most} times, last to {}", short(url))]
    TooManyRedirects {
        most: u8,
        /// The target of the last redirect.
        url: String,
    },
    /// A redirect leads from https to http.
    #[error("insecure redirect from https to {}", short(url))]
    Downgrade { url: String },
    /// The server answered with an error status.
    #[error("{} answered {status}{}", short(url), retry.as_ref().map(|after| format!(", retry after {after}")).unwrap_or_default())]
    Status {
        /// The final URL, after redirects.
        url: String,
        status: u16,
        /// When to retry, as the server wrote it.
        retry: Option<String>,
    },
    /// The response is not valid HTTP.
    #[error("invalid HTTP response from {}: {}", short(host), short(why))]
    Broken { host: String, why: String },
    /// The media type is not text, or its text cannot be read.
    #[error("{media} is not supported")]
    Unsupported { media: String },
    /// The page has no text.
    #[error("{} has no text", short(url))]
    Empty {
        /// The final URL, after redirects.
        url: String,
    },
}

impl FetchError {
    pub fn hint(&self) -> &'static str {
        match self {
            Self::Url { .. } => "use a full URL such as https://example.com/page",
            Self::Scheme { .. } => "read files with the file tools; use a command for other protocols",
            Self::Credentials => "remove them; for pages behind a login use a program that is logged in, such as gh",
            Self::Private { .. } => "to allow it, add the host to `allow` under `[fetch]` in the configuration",
            Self::Denied { .. } => "blocked by a user rule; do not retry with a different spelling",
            Self::NoSuchHost { .. } => "check the spelling and the network connection",
            Self::Unreachable { .. } => "check the port and the network connection, or try again later",
            Self::Proxy { .. } => "check HTTPS_PROXY and NO_PROXY, and whether the proxy allows this host",
            Self::Untrusted { .. } => {
                "if a private certificate authority signs here, add it to the system's certificates"
            }
            Self::TooSlow { .. } => "try again later, or raise `timeout_seconds` under `[fetch]` in the configuration",
            Self::TooManyRedirects { .. } => "fetch the final URL directly",
            Self::Downgrade { .. } => "to fetch the http page anyway, use its URL directly",
            Self::Status { status: 401 | 403 | 407, .. } => {
                "it needs a login: use a program that is logged in, such as gh"
            }
            Self::Status { status: 404 | 410, .. } => "check the URL, or search for where the page is now",
            Self::Status { .. } => "try again later",
            Self::Broken { .. } => "check that the port speaks HTTP",
            Self::Unsupported { media } if media.contains("pdf") => {
                "download it and index its text: pdftotext FILE - | weir index - --source NAME"
            }
            Self::Unsupported { .. } => "download it in a run and process it there with a program for this type",
            Self::Empty { .. } => {
                "its text may be generated by scripts: look for a static version of the page or an API"
            }
        }
    }
}

fn short(text: &str) -> String {
    text::one_line(text, MAX_SHOWN_CHARS)
}
