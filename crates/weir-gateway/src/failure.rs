//! Why a server could not be used, in words for a model and for a person.

use std::fmt;
use std::time::Duration;

use rmcp::model::ErrorData;
use rmcp::service::{ClientInitializeError, ServiceError};
use weir_core::unseen::named_in_line;
use weir_core::wording::one_line;

/// How much of a server's own words an error repeats, in characters.
const MAX_WORDS_CHARS: usize = 300;

/// Why a server could not be used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ServerFailure {
    /// It did not start, or did not understand the greeting.
    NotStarted { why: String, words: String },
    /// It failed before, and is not tried again yet.
    Resting { why: String, left: Duration },
    /// The connection ended during the call.
    Lost { words: String },
    /// It did not answer in time.
    Silent(Duration),
    /// The client gave the call up.
    Cancelled,
    /// It answered with an error.
    Refused(String),
    /// It answered with something that Weir does not support.
    Unsupported,
    /// It asks the user to sign in. Names the server.
    SignedOut(String),
}

impl ServerFailure {
    pub(crate) fn not_started(why: &str, words: &str) -> Self {
        Self::NotStarted { why: one_line(why, MAX_WORDS_CHARS), words: words.to_owned() }
    }

    pub(crate) fn greeting(server: &str, error: &ClientInitializeError) -> Self {
        match error {
            error if error.is_authorization_required() => Self::SignedOut(server.to_owned()),
            ClientInitializeError::ConnectionClosed(_) => Self::not_started("it ended before it answered", ""),
            ClientInitializeError::JsonRpcError(error) => Self::Refused(one_line(&error.message, MAX_WORDS_CHARS)),
            other => Self::not_started(&other.to_string(), ""),
        }
    }

    pub(crate) fn of(error: ServiceError) -> Self {
        match error {
            ServiceError::McpError(ErrorData { message, .. }) => Self::Refused(one_line(&message, MAX_WORDS_CHARS)),
            ServiceError::Timeout { timeout } => Self::Silent(timeout),
            ServiceError::Cancelled { .. } => Self::Cancelled,
            ServiceError::TransportClosed | ServiceError::TransportSend(_) => Self::Lost { words: String::new() },
            _ => Self::Unsupported,
        }
    }

    /// Returns the same failure with the last words of the server, where they may tell why.
    pub(crate) fn with_words(self, said: &str) -> Self {
        let last = said.lines().rev().find(|line| !line.trim().is_empty()).unwrap_or_default();
        let words = one_line(last, MAX_WORDS_CHARS);
        match self {
            Self::NotStarted { why, .. } => Self::NotStarted { why, words },
            Self::Lost { .. } => Self::Lost { words },
            other => other,
        }
    }
}

impl fmt::Display for ServerFailure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let last = |words: &str| match words {
            "" => String::new(),
            words => format!("; its last words: {}", named_in_line(words)),
        };
        match self {
            Self::NotStarted { why, words } => write!(f, "it did not start: {}{}", named_in_line(why), last(words)),
            Self::Resting { why, left } => {
                write!(f, "{why}; it is tried again in {} s", left.as_secs().max(1))
            }
            Self::Lost { words } => {
                write!(
                    f,
                    "it ended during the call, which may have had effects{}; the next call starts it",
                    last(words)
                )
            }
            Self::Silent(time) => write!(f, "it did not answer within {} s", time.as_secs()),
            Self::Cancelled => f.write_str("the call was cancelled"),
            Self::Refused(why) => write!(f, "it answered with an error: {}", named_in_line(why)),
            Self::Unsupported => f.write_str("it answered with something that Weir does not support"),
            Self::SignedOut(name) => {
                write!(f, "it asks the user to sign in: `weir servers login {name}` in a terminal does that")
            }
        }
    }
}
