//! Why there is no page. Invariant: every message says what was wrong; [`FetchError::hint`] says what to do next.

use std::net::IpAddr;
use std::time::Duration;

/// Why there is no page.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum FetchError {
    /// The address cannot be read.
    #[error("`{text}` is not an address: {why}")]
    Url {
        /// What was given.
        text: String,
        /// What is wrong with it.
        why: String,
    },
    /// Neither http nor https.
    #[error("`{scheme}:` is not fetched, only http and https are")]
    Scheme {
        /// What it was.
        scheme: String,
    },
    /// A name or a password in the address.
    #[error("the address holds a user name or a password")]
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
    #[error("{host} has no address")]
    NoSuchHost {
        /// The host that was asked for.
        host: String,
    },
    /// There is no connection.
    #[error("{host} cannot be reached: {why}")]
    Unreachable {
        /// The host that was asked for.
        host: String,
        /// What the system says.
        why: String,
    },
    /// The proxy refused, or cannot be reached.
    #[error("the proxy did not connect to {host}: {why}")]
    Proxy {
        /// The host that was asked for.
        host: String,
        /// What it said.
        why: String,
    },
    /// Its certificate is not trusted, or the handshake failed.
    #[error("no trusted connection to {host}: {why}")]
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
    #[error("redirected from https to {url}, which anybody on the way can change")]
    Downgrade {
        /// Where it leads.
        url: String,
    },
    /// The server says no.
    #[error("{url} answers {status}{}", retry.as_ref().map(|after| format!(", to be asked again after {after}")).unwrap_or_default())]
    Status {
        /// What was asked for in the end.
        url: String,
        /// The number.
        status: u16,
        /// When to ask again, in the server's words.
        retry: Option<String>,
    },
    /// Not HTTP, or broken HTTP.
    #[error("{host} does not answer as HTTP says: {why}")]
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
            Self::Url { .. } => "write it whole, such as https://example.com/page",
            Self::Scheme { .. } => "read files with the file tools, and other protocols with a command",
            Self::Credentials => {
                "leave them out; for pages behind a login use the program that is logged in, such as gh"
            }
            Self::Private { .. } => "if it may be read, its host goes into `allow` of `[fetch]` in the configuration",
            Self::Denied { .. } => "this is a rule of the user's; do not try another spelling",
            Self::NoSuchHost { .. } => "check how the name is spelt and whether there is a network",
            Self::Unreachable { .. } => "check the port and whether there is a network, or try again later",
            Self::Proxy { .. } => "check HTTPS_PROXY and NO_PROXY, or ask whether the proxy lets this host through",
            Self::Untrusted { .. } => "if a company's own authority signs here, add it to the system's certificates",
            Self::TooSlow { .. } => "try again later, or raise `timeout_seconds` of `[fetch]` in the configuration",
            Self::TooManyRedirects { .. } => "ask for the address that it should lead to",
            Self::Downgrade { .. } => "ask for the http address itself if it is meant",
            Self::Status { status: 401 | 403 | 407, .. } => {
                "it wants a login: use the program that is logged in, such as gh"
            }
            Self::Status { status: 404 | 410, .. } => "check the address, or search for where the page is now",
            Self::Status { .. } => "try again later",
            Self::Broken { .. } => "check that the port speaks HTTP",
            Self::Unsupported { media } if media.contains("pdf") => {
                "download it, and index its text: pdftotext FILE - | weir index - --source NAME"
            }
            Self::Unsupported { .. } => "download it with a run and read it there with a program that knows the type",
            Self::Empty { .. } => {
                "its text may be made by scripts: look for a version of the page without them, or its API"
            }
        }
    }
}
