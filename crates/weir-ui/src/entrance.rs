//! Who may see the pages: the browser that opened the link, known by its cookie.
//!
//! Invariants: the link works once; secrets are compared in constant time, by their hashes; the token of the forms is
//! made from the cookie, so it is worth nothing in another browser.

use std::sync::atomic::{AtomicBool, Ordering};

use axum::http::HeaderMap;
use axum::http::header::{COOKIE, ORIGIN};
use weir_host::error::CommandError;

/// The longest part of a header that is looked at, in bytes.
const MAX_COOKIE_BYTES: usize = 16 << 10;
/// Where the link leads, before its secret.
const OPEN: &str = "/open/";

/// The door to the pages.
pub(super) struct Entrance {
    /// The secret in the link.
    link: String,
    was_used: AtomicBool,
    cookie: (String, String),
    /// The key of the forms' token.
    key: [u8; blake3::KEY_LEN],
    /// The address of the pages, as browsers write it.
    authority: String,
}

impl Entrance {
    /// Makes a door with a new link. `authority` is the host and the port.
    pub(super) fn new(authority: String) -> Result<Self, CommandError> {
        // Browsers send a cookie to every port of a host, so each server has a name of its own.
        let port = authority.rsplit(':').next().unwrap_or_default();
        Ok(Self {
            link: secret()?,
            was_used: AtomicBool::new(false),
            cookie: (format!("weir-ui-{port}"), secret()?),
            key: random()?,
            authority,
        })
    }

    /// Returns the link that opens the pages once.
    pub(super) fn link(&self) -> String {
        format!("http://{}{OPEN}{}", self.authority, self.link)
    }

    /// Whether a path is that of a link, used or not.
    pub(super) fn is_link(path: &str) -> bool {
        path.starts_with(OPEN)
    }

    /// Returns the header that sets the cookie, if the path is that of the link and nobody has used it yet.
    pub(super) fn enter(&self, path: &str) -> Option<String> {
        let given = path.strip_prefix(OPEN)?;
        let is_new = is_same(given, &self.link) && !self.was_used.swap(true, Ordering::SeqCst);
        let (name, value) = &self.cookie;
        is_new.then(|| format!("{name}={value}; HttpOnly; SameSite=Strict; Path=/"))
    }

    /// Whether a request comes from the browser that opened the link.
    pub(super) fn knows(&self, headers: &HeaderMap) -> bool {
        cookie(headers, &self.cookie.0).is_some_and(|value| is_same(&value, &self.cookie.1))
    }

    /// Returns the token that every form sends back.
    pub(super) fn token(&self) -> String {
        blake3::keyed_hash(&self.key, self.cookie.1.as_bytes()).to_hex().to_string()
    }

    /// Whether a form was made by one of the pages: it has the token, and the browser says that it comes from here.
    pub(super) fn accepts(&self, headers: &HeaderMap, token: Option<&str>) -> bool {
        let origin = headers.get(ORIGIN).and_then(|origin| origin.to_str().ok());
        let site = headers.get("sec-fetch-site").map(|site| site.as_bytes() == b"same-origin");
        let is_ours = origin.and_then(|origin| origin.strip_prefix("http://")) == Some(self.host(headers));
        is_ours && site != Some(false) && token.is_some_and(|token| is_same(token, &self.token()))
    }

    /// Returns the host that a request names. The server answers only those that it knows.
    fn host<'a>(&'a self, headers: &'a HeaderMap) -> &'a str {
        headers.get("host").and_then(|host| host.to_str().ok()).unwrap_or(&self.authority)
    }
}

pub(super) fn cookie(headers: &HeaderMap, name: &str) -> Option<String> {
    let all = headers.get_all(COOKIE).iter().filter_map(|header| header.to_str().ok());
    let pairs = all.filter(|header| header.len() <= MAX_COOKIE_BYTES).flat_map(|header| header.split(';'));
    let mut named = pairs.filter_map(|pair| pair.trim().split_once('=')).filter(|(found, _)| *found == name);
    named.next().map(|(_, value)| value.to_owned())
}

fn is_same(given: &str, secret: &str) -> bool {
    blake3::hash(given.as_bytes()) == blake3::hash(secret.as_bytes())
}

/// Returns 64 hexadecimal digits that nobody can guess.
fn secret() -> Result<String, CommandError> {
    Ok(blake3::hash(&random()?).to_hex().to_string())
}

fn random() -> Result<[u8; blake3::KEY_LEN], CommandError> {
    let mut bytes = [0; blake3::KEY_LEN];
    getrandom::fill(&mut bytes).map_err(|error| CommandError::broken(&format!("cannot get random bytes: {error}")))?;
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use axum::http::HeaderValue;

    use super::*;

    fn entrance() -> Entrance {
        Entrance::new("127.0.0.1:4848".to_owned()).unwrap()
    }

    fn headers(pairs: &[(&'static str, &str)]) -> HeaderMap {
        let mut headers = HeaderMap::new();
        for (name, value) in pairs {
            headers.append(*name, HeaderValue::from_str(value).unwrap());
        }
        headers
    }

    #[test]
    fn a_link_works_once() {
        let entrance = entrance();
        let path = entrance.link().replace("http://127.0.0.1:4848", "");
        for wrong in ["/open/", "/open/0", "/", &path[..path.len() - 1]] {
            assert_eq!(entrance.enter(wrong), None, "{wrong}");
        }
        let cookie = entrance.enter(&path).unwrap();
        assert!(cookie.starts_with("weir-ui-4848=") && cookie.contains("HttpOnly; SameSite=Strict"), "{cookie}");
        assert_eq!(entrance.enter(&path), None);
        let pair = cookie.split(';').next().unwrap();
        assert!(entrance.knows(&headers(&[("cookie", &format!("theme=dark; {pair}"))])));
        for wrong in ["", "weir-ui-4848=", "weir-ui-4848=0", &pair.replace("4848", "4849")] {
            assert!(!entrance.knows(&headers(&[("cookie", wrong)])), "{wrong}");
        }
    }

    #[test]
    fn a_form_needs_its_token_and_its_origin() {
        let entrance = entrance();
        let token = entrance.token();
        let host = ("host", "localhost:4848");
        let ours = ("origin", "http://localhost:4848");
        let check = |given: &[(&'static str, &str)], token: Option<&str>| entrance.accepts(&headers(given), token);
        assert!(check(&[host, ours], Some(&token)));
        assert!(check(&[host, ours, ("sec-fetch-site", "same-origin")], Some(&token)));
        assert!(!check(&[host, ours, ("sec-fetch-site", "cross-site")], Some(&token)));
        assert!(!check(&[host, ours], None));
        assert!(!check(&[host, ours], Some("")));
        assert!(!check(&[host], Some(&token)));
        for origin in ["null", "http://localhost:4849", "https://evil.example", "http://127.0.0.1:4848"] {
            assert!(!check(&[host, ("origin", origin)], Some(&token)), "{origin}");
        }
        assert_ne!(token, entrance.cookie.1);
    }
}
