//! Who makes a request: the scope of the token, and the session and the work that the headers name.

use axum::http::{HeaderMap, HeaderName, StatusCode};
use weir_context::Context;
use weir_core::SessionKey;
use weir_http::problem::Problem;

use super::tokens::{TokenScope, Tokens};

/// Names the session that a call belongs to.
pub(super) const SESSION: HeaderName = HeaderName::from_static("weir-session");
/// Names the client that the session is one of.
pub(super) const CLIENT: HeaderName = HeaderName::from_static("weir-client");
/// Names the work that a call belongs to, instead of the branch that is checked out.
pub(super) const WORK: HeaderName = HeaderName::from_static("weir-work");

/// The longest name in one of these headers.
pub(super) const MAX_NAME_CHARS: usize = 200;
/// The client of a session whose client is not named.
const DEFAULT_CLIENT: &str = "http";

#[derive(Debug, Clone)]
pub(crate) struct Caller {
    /// What the token allows.
    pub scope: TokenScope,
    /// The client that is named, if any.
    pub client: Option<String>,
    /// The key of the session that is named, if any.
    pub session: Option<String>,
    /// The work that is named, if any.
    pub work: Option<String>,
}

impl Caller {
    /// Returns the caller of a request, or the answer that refuses the request: it has no good token, its token has a
    /// lower scope, or a header cannot be used.
    pub(crate) fn of(headers: &HeaderMap, tokens: &Tokens, needed: TokenScope) -> Result<Self, Problem> {
        Ok(Self {
            scope: tokens.require(headers, needed)?,
            client: name(headers, &CLIENT)?,
            session: name(headers, &SESSION)?,
            work: name(headers, &WORK)?,
        })
    }

    /// Returns the session of the call, if one is named. Calls without a session share nothing with each other.
    pub(crate) fn session_key(&self) -> Option<SessionKey> {
        let client = self.client.clone().unwrap_or_else(|| DEFAULT_CLIENT.to_owned());
        self.session.clone().map(|key| SessionKey { client, key })
    }

    /// Returns a context for the operation itself, at the work that is named.
    pub(crate) fn context(&self, context: &Context) -> Context {
        context.clone().in_work(self.work.clone())
    }
}

fn name(headers: &HeaderMap, header: &HeaderName) -> Result<Option<String>, Problem> {
    let Some(value) = headers.get(header) else { return Ok(None) };
    let text = value.to_str().ok().map(str::trim);
    match text.filter(|text| !text.is_empty() && text.len() <= MAX_NAME_CHARS && !text.contains('\t')) {
        Some(text) => Ok(Some(text.to_owned())),
        None => Err(Problem::new(StatusCode::BAD_REQUEST, "Invalid header", format!("`{header}` cannot be used"))
            .hint(format!("send 1 to {MAX_NAME_CHARS} printable ASCII characters, or leave the header out"))),
    }
}

#[cfg(test)]
mod tests {
    use axum::http::HeaderValue;

    use super::*;

    #[test]
    fn a_name_is_short_and_printable() {
        let long = "x".repeat(MAX_NAME_CHARS + 1);
        for (value, expected) in [
            ("s1", Some(Some("s1"))),
            (" a b ", Some(Some("a b"))),
            ("", None),
            ("a\tb", None),
            (&long[1..], Some(Some(&long[1..]))),
            (long.as_str(), None),
        ] {
            let mut headers = HeaderMap::new();
            headers.insert(SESSION, HeaderValue::from_str(value).unwrap());
            assert_eq!(name(&headers, &SESSION).ok(), expected.map(|name| name.map(str::to_owned)), "{value:?}");
        }
        assert_eq!(name(&HeaderMap::new(), &SESSION).ok(), Some(None));
    }
}
