//! Bearer tokens in requests (RFC 6750): where they are, and what a server says about one that is not sufficient.

use axum::http::header::{AUTHORIZATION, WWW_AUTHENTICATE};
use axum::http::{HeaderMap, HeaderValue, StatusCode};

use super::problem::Problem;

/// Returns the token that a request carries, or why there is none.
pub fn token(headers: &HeaderMap) -> Result<&str, &'static str> {
    let mut all = headers.get_all(AUTHORIZATION).iter();
    let given = match (all.next(), all.next()) {
        (Some(given), None) => given,
        (None, _) => return Err("the request has no token"),
        (Some(_), Some(_)) => return Err("the request has more than one token"),
    };
    let token = given.to_str().ok().and_then(|text| text.split_once(' '));
    let token = token.filter(|(scheme, _)| scheme.eq_ignore_ascii_case("bearer"));
    token.map(|(_, token)| token.trim()).ok_or("the Authorization header has no bearer token")
}

/// Returns the answer to a request without a good token, with what the challenge says besides the realm.
pub fn unauthorised(detail: &str, challenge: &[(&str, &str)]) -> Problem {
    Problem::new(StatusCode::UNAUTHORIZED, "Unauthorized", detail).header(WWW_AUTHENTICATE, header(challenge))
}

/// Returns the answer to a request whose token has too low a scope.
pub fn scope_too_low(has: &str, needed: &str) -> Problem {
    let detail = format!("this needs the scope `{needed}`, and the token has `{has}`");
    Problem::new(StatusCode::FORBIDDEN, "Scope too low", detail)
        .header(WWW_AUTHENTICATE, header(&[("error", "insufficient_scope"), ("scope", needed)]))
}

fn header(challenge: &[(&str, &str)]) -> HeaderValue {
    let more: String = challenge.iter().map(|(name, value)| format!(", {name}=\"{value}\"")).collect();
    let usual = HeaderValue::from_static("Bearer");
    HeaderValue::from_str(&format!("Bearer realm=\"weir\"{more}")).unwrap_or(usual)
}
