//! Who may call the server: tokens, each with a scope and perhaps an expiry, from one file of the user.
//!
//! Invariants: only hashes of tokens stay in memory, and they are compared in constant time; without a readable token
//! file nobody is let in; a token that is added or revoked counts from the next request on.

mod file;

use std::path::{Path, PathBuf};
use std::sync::Mutex;

use axum::http::HeaderMap;
use weir_host::error::CommandError;
use weir_host::mutex::lock;
use weir_host::when;
use weir_operations::Effect;

use file::{FileVersion, Token};
pub use file::{issue, renew};
use weir_http::bearer;
use weir_http::problem::Problem;

weir_core::written_enum! {
    /// What the bearer of a token may do. Each scope includes those before it.
    #[derive(serde::Serialize, serde::Deserialize)]
    #[serde(rename_all = "lowercase")]
    pub enum TokenScope {
        /// Read what is stored and the files of the project.
        Read = "read",
        /// Add to the store and remove from it.
        Write = "write",
        /// Run code and change files of the project.
        Run = "run",
    }
}

impl TokenScope {
    /// Returns the scope that a call with this effect needs.
    pub fn for_effect(effect: Effect) -> Self {
        match effect {
            Effect::Reads => Self::Read,
            Effect::Adds | Effect::Removes => Self::Write,
            Effect::Changes | Effect::Runs => Self::Run,
        }
    }

    /// Returns the answer that refuses a request, unless this scope includes the one that is needed.
    pub fn covers(self, needed: Self) -> Result<(), Problem> {
        if self >= needed { Ok(()) } else { Err(too_low(self, needed)) }
    }

    /// Returns the command that prints a token with this scope.
    fn command(self) -> &'static str {
        match self {
            Self::Read => "`weir serve --print-token --scope read`",
            Self::Write => "`weir serve --print-token --scope write`",
            Self::Run => "`weir serve --print-token --scope run`",
        }
    }
}

/// The tokens of the user, as the file has them now.
pub struct Tokens {
    path: PathBuf,
    known: Mutex<KnownTokens>,
}

/// The hashes of the tokens of one version of the file.
#[derive(Default)]
struct KnownTokens {
    version: Option<FileVersion>,
    tokens: Vec<KnownToken>,
}

struct KnownToken {
    hash: blake3::Hash,
    scope: TokenScope,
    /// When the token expires, in milliseconds since 1970.
    expires: Option<i64>,
}

/// What a token is good for.
enum Standing {
    Good(TokenScope),
    Expired,
    Unknown,
}

impl Tokens {
    /// Returns the tokens in the file below the data folder. Creates the file with one token of each scope if there is
    /// none.
    pub fn open(data: &Path) -> Result<Self, CommandError> {
        file::create(data)?;
        Ok(Self { path: file::path(data), known: Mutex::default() })
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Returns the scope of the token that a request carries, or the answer that refuses the request unless the scope
    /// is sufficient.
    pub fn require(&self, headers: &HeaderMap, needed: TokenScope) -> Result<TokenScope, Problem> {
        let token = bearer::token(headers).map_err(|reason| unauthorised(reason, None, needed))?;
        match self.standing(token)? {
            Standing::Good(scope) => scope.covers(needed).map(|()| scope),
            Standing::Expired => Err(unauthorised("the token has expired", Some("invalid_token"), needed)),
            Standing::Unknown => Err(unauthorised("the token is not known", Some("invalid_token"), needed)),
        }
    }

    fn standing(&self, token: &str) -> Result<Standing, CommandError> {
        let hash = blake3::hash(token.as_bytes());
        let mut known = lock(&self.known);
        known.refresh(&self.path)?;
        // Every token is compared, each in constant time, so the time of an answer tells nothing about any of them.
        let found = known.tokens.iter().fold(None, |found, token| if token.hash == hash { Some(token) } else { found });
        Ok(match found {
            Some(token) if token.expires.is_some_and(|at| at <= when::now().0) => Standing::Expired,
            Some(token) => Standing::Good(token.scope),
            None => Standing::Unknown,
        })
    }
}

impl KnownTokens {
    /// Reads the file again if it has changed.
    fn refresh(&mut self, path: &Path) -> Result<(), CommandError> {
        let version = FileVersion::of(path);
        if version.is_some() && version == self.version {
            return Ok(());
        }
        *self = Self::default();
        let hashed = |token: Token| KnownToken {
            hash: blake3::hash(token.secret.as_bytes()),
            scope: token.scope,
            expires: token.expires,
        };
        self.tokens = file::read(path)?.into_iter().flatten().map(hashed).collect();
        self.version = version;
        Ok(())
    }
}

fn unauthorised(detail: &str, error: Option<&str>, needed: TokenScope) -> Problem {
    let command = needed.command();
    let scope = ("scope", needed.as_str());
    let challenge = error.map_or_else(|| vec![scope], |error| vec![("error", error), scope]);
    bearer::unauthorised(detail, &challenge)
        .hint(format!("send `Authorization: Bearer TOKEN`; {command} prints a token"))
}

fn too_low(has: TokenScope, needed: TokenScope) -> Problem {
    bearer::scope_too_low(has.as_str(), needed.as_str())
        .hint(format!("ask the user for a token with this scope; {} prints one", needed.command()))
}

#[cfg(test)]
mod tests {
    use axum::http::HeaderValue;
    use axum::http::header::{AUTHORIZATION, WWW_AUTHENTICATE};
    use axum::response::IntoResponse as _;
    use weir_operations::OPERATIONS;

    use super::*;

    #[track_caller]
    fn check(tokens: &Tokens, authorization: &[&str], needed: TokenScope, expected: Result<TokenScope, u16>) {
        let mut headers = HeaderMap::new();
        for value in authorization {
            headers.append(AUTHORIZATION, HeaderValue::from_str(value).unwrap());
        }
        let found = tokens.require(&headers, needed).map_err(|problem| {
            let response = problem.into_response();
            assert!(response.headers().contains_key(WWW_AUTHENTICATE), "{authorization:?}");
            response.status().as_u16()
        });
        assert_eq!(found, expected, "{authorization:?} {needed:?}");
    }

    #[test]
    fn a_scope_includes_the_smaller_ones() {
        let place = tempfile::tempdir().unwrap();
        let tokens = Tokens::open(place.path()).unwrap();
        for &has in TokenScope::ALL {
            let token = format!("Bearer {}", issue(place.path(), has, None).unwrap());
            for &needed in TokenScope::ALL {
                check(&tokens, &[&token], needed, if has >= needed { Ok(has) } else { Err(403) });
            }
        }
    }

    #[test]
    fn what_is_not_one_good_token_is_refused() {
        let place = tempfile::tempdir().unwrap();
        let tokens = Tokens::open(place.path()).unwrap();
        let good = issue(place.path(), TokenScope::Read, None).unwrap();
        let bearer = format!("Bearer {good}");
        check(&tokens, &[&format!("bearer  {good}")], TokenScope::Read, Ok(TokenScope::Read));
        let others = [format!("Basic {good}"), format!("{bearer}x"), good];
        for wrong in ["", "Bearer", "Bearer ", "Bearer x"].into_iter().chain(others.iter().map(String::as_str)) {
            check(&tokens, &[wrong], TokenScope::Read, Err(401));
        }
        check(&tokens, &[], TokenScope::Read, Err(401));
        check(&tokens, &[&bearer, &bearer], TokenScope::Read, Err(401));
    }

    #[test]
    fn a_token_ends_when_it_expires_or_is_revoked() {
        let place = tempfile::tempdir().unwrap();
        let tokens = Tokens::open(place.path()).unwrap();
        let expired = format!("Bearer {}", issue(place.path(), TokenScope::Run, Some(1)).unwrap());
        check(&tokens, &[&expired], TokenScope::Read, Err(401));
        let lasting = format!("Bearer {}", issue(place.path(), TokenScope::Run, Some(i64::MAX)).unwrap());
        check(&tokens, &[&lasting], TokenScope::Run, Ok(TokenScope::Run));
        renew(place.path()).unwrap();
        check(&tokens, &[&lasting], TokenScope::Read, Err(401));
        std::fs::remove_file(tokens.path()).unwrap();
        check(&tokens, &[&lasting], TokenScope::Read, Err(401));
    }

    #[test]
    fn what_runs_or_changes_needs_the_highest_scope() {
        for operation in OPERATIONS {
            let expected = match operation.effect {
                Effect::Reads => "read",
                Effect::Adds | Effect::Removes => "write",
                Effect::Changes | Effect::Runs => "run",
            };
            assert_eq!(TokenScope::for_effect(operation.effect).as_str(), expected, "{}", operation.tool);
        }
    }
}
