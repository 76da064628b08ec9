//! Why there is no page. Invariant: every message says what was wrong; [`FetchError::hint`] says what to do next.

use std::net::IpAddr;
use std::time::Duration;

/// Why there is no page.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum FetchError {
    /// The address cannot be read.
    #[error("`{text}` is not a valid URL: {why}")]
    Url {
        /// What was given.
        text: String,
        /// What is wrong with it.
        why: String,
    },
    /// Neither http nor https.
    #[error("cannot fetch `{scheme}:` URLs, only http and https")]
    Scheme {
        /// What it was.
        scheme: String,
    },
    /// A name or a password in the address.
    #[error("the URL contains a user name or password")]
    Credentials,
    /// This machine, a private network, or metadata.
    #[error("{host}{} is on this machine or in a private network", address.map(|address| format!(" ({address})")).unwrap_or_default())]
    Private {
        /// The host that was asked for.
        host: String,
        /// What its name resolves to, unless the name says it.
        address: Option<IpAddr>,
    },
    /// The user's rules deny it.
    #[error("{host} is denied")]
    Denied {
        /// The host that was asked for.
        host: String,
    },
    /// The name resolves to nothing.
    #[error("cannot resolve {host}")]
    NoSuchHost {
        /// The host that was asked for.
        host: String,
    },
    /// There is no connection.
    #[error("cannot reach {host}: {why}")]
    Unreachable {
        /// The host that was asked for.
        host: String,
        /// What the system says.
        why: String,
    },
    /// The proxy refused, or cannot be reached.
    #[error("the proxy cannot connect to {host}: {why}")]
    Proxy {
        /// The host that was asked for.
        host: String,
        /// What it said.
        why: String,
    },
    /// Its certificate is not trusted, or the handshake failed.
    #[error("cannot make a trusted connection to {host}: {why}")]
    Untrusted {
        /// The host that was asked for.
        host: String,
        /// What is wrong.
        why: String,
    },
    /// It took too long.
    #[error("{host} took longer than {} s", after.as_secs_f32())]
    TooSlow {
        /// The host that was asked for.
        host: String,
        /// The limit.
        after: Duration,
    },
    /// It redirects too often, or in a circle.
    #[error("redirected more than {most} times, last to {url}")]
    TooManyRedirects {
        /// The limit.
        most: u8,
        /// Where it would have gone on.
        url: String,
    },
    /// A redirect from https to http.
    #[error("insecure redirect from https to {url}")]
    Downgrade {
        /// Where it leads.
        url: String,
    },
    /// The server says no.
    #[error("{url} answered {status}{}", retry.as_ref().map(|after| format!(", retry after {after}")).unwrap_or_default())]
    Status {
        /// What was asked for in the end.
        url: String,
        /// The number.
        status: u16,
        /// When to ask again, in the server's words.
        retry: Option<String>,
    },
    /// Not HTTP, or broken HTTP.
    #[error("invalid HTTP response from {host}: {why}")]
    Broken {
        /// The host that was asked for.
        host: String,
        /// What is wrong.
        why: String,
    },
    /// It is of a type that has no text, or none that can be read.
    #[error("{media} is not supported")]
    Unsupported {
        /// The type.
        media: String,
    },
    /// There is nothing in it.
    #[error("{url} has no text")]
    Empty {
        /// What was asked for in the end.
        url: String,
    },
}

impl FetchError {
    /// What to do next.
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
