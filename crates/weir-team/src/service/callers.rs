//! Who makes a request. Invariants: tenant and user come from the token; the answer to a wrong token does not say what
//! was wrong with it, except to somebody who has its secret.

use axum::http::{HeaderMap, HeaderName, StatusCode};
use schemars::JsonSchema;
use serde::Serialize;
use weir_core::wording::one_line;
use weir_core::{ProjectKey, Scope, SessionKey};
use weir_http::bearer;
use weir_http::problem::Problem;
use weir_records::{ApiToken, Credential, MAX_NAME_BYTES, TokenScope, TokenStanding, is_name};

use super::Service;
use super::oauth::ResourceServer;
use super::problem::{invalid, sealed};

/// Names the client that a note is written with.
pub(super) const CLIENT: HeaderName = HeaderName::from_static("weir-client");

/// Who makes a request, by a token that is good.
#[derive(Clone)]
pub(super) struct Caller {
    pub(super) token: ApiToken,
    /// Whether an issuer has signed the token, so that its scopes are called `weir:…`.
    is_oauth: bool,
    client: Option<String>,
}

/// Whose token a request has, and what it is good for.
#[derive(Serialize, JsonSchema)]
pub(super) struct DescribedCaller {
    tenant: String,
    user: String,
    scope: &'static str,
    /// The keys of the projects that it is good for, or null for all of the tenant.
    projects: Option<Vec<String>>,
    /// In milliseconds since 1970.
    expires_at: Option<i64>,
}

impl Caller {
    /// Returns the caller of a request, or the answer that refuses it.
    pub(super) fn of(service: &Service, headers: &HeaderMap, needed: TokenScope) -> Result<Self, Problem> {
        let given = bearer::token(headers).map_err(|reason| unauthorised(service, reason))?;
        let (token, is_oauth) = match (Credential::parse(given), &service.options.oauth) {
            (Some(credential), _) => (stored(service, &credential)?, false),
            (None, Some(oauth)) => (signed(service, oauth, given)?, true),
            (None, None) => return Err(unauthorised(service, "the token is not known")),
        };
        match token.standing(service.now()) {
            TokenStanding::Good => {}
            TokenStanding::Expired if is_oauth => {} // Within the skew of the clocks.
            TokenStanding::Expired => return Err(unauthorised(service, "the token has expired")),
            TokenStanding::Revoked => return Err(unauthorised(service, "the token was revoked")),
        }
        if let Err(seconds) = service.rates.take(token.id, service.now()) {
            let detail = "this token makes too many requests";
            return Err(Problem::new(StatusCode::TOO_MANY_REQUESTS, "Too many requests", detail).retry_after(seconds));
        }
        let caller = Self { token, is_oauth, client: client(headers)? };
        caller.check(needed)?;
        Ok(caller)
    }

    /// Checks that the token is good for a scope.
    pub(super) fn check(&self, needed: TokenScope) -> Result<(), Problem> {
        if self.token.scope < needed { Err(too_low(self, needed)) } else { Ok(()) }
    }

    /// Returns whose token it is, and what it is good for.
    pub(super) fn describe(&self) -> DescribedCaller {
        let ApiToken { tenant, user, scope, projects, expires_at, .. } = &self.token;
        let keys = |projects: &Vec<ProjectKey>| projects.iter().map(|key| key.0.clone()).collect();
        DescribedCaller {
            tenant: tenant.0.clone(),
            user: user.0.clone(),
            scope: scope.as_str(),
            projects: projects.as_ref().map(keys),
            expires_at: expires_at.map(|at| at.0),
        }
    }

    /// Returns the scope of a call in a project, if the token is good for it.
    pub(super) fn scope(&self, project: String) -> Result<Scope, Problem> {
        if !is_name(&project) {
            let detail = format!("`project` must have 1 to {MAX_NAME_BYTES} bytes and no control characters");
            return Err(invalid(detail));
        }
        let project = ProjectKey(project);
        if !self.token.has_project(&project) {
            let detail = format!("the token is not valid for the project `{}`", one_line(&project.0, 80));
            return Err(Problem::new(StatusCode::FORBIDDEN, "Other project", detail)
                .hint("ask the operator for a token with this project: `weir-server invite --project`"));
        }
        Ok(Scope {
            tenant: self.token.tenant.clone(),
            user: self.token.user.clone(),
            // A call has no session of its own here. The audit names the token.
            session: Some(SessionKey {
                client: self.client.clone().unwrap_or_default(),
                key: self.token.id.to_string(),
            }),
            ..Scope::project(project)
        })
    }

    /// Returns the scope of a call that reads or writes texts, unless the project is sealed: a server has none of it.
    pub(super) fn clear_scope(&self, service: &Service, project: String) -> Result<Scope, Problem> {
        let scope = self.scope(project)?;
        match service.shelf.is_sealed(&scope) {
            Ok(false) => Ok(scope),
            Ok(true) => Err(sealed()),
            Err(error) => Err(service.failure(&error)),
        }
    }
}

/// Returns the token with the secret that a request has, revoked or not.
fn stored(service: &Service, credential: &Credential) -> Result<ApiToken, Problem> {
    let found = service.accounts.token(credential.id()).map_err(|error| service.failure(&error))?;
    // An unknown id takes as long as a wrong secret.
    let nothing = blake3::Hash::from_bytes([0; 32]);
    let matches = credential.hash() == found.as_ref().map_or(nothing, |token| token.hash);
    found.filter(|_| matches).ok_or_else(|| unauthorised(service, "the token is not known"))
}

/// Returns what the access token of an issuer is good for. Its tenant must exist.
fn signed(service: &Service, oauth: &ResourceServer, given: &str) -> Result<ApiToken, Problem> {
    let token = oauth.verify(given, service.now()).map_err(|reason| unauthorised(service, reason))?;
    let exists = service.accounts.has_tenant(&token.tenant).map_err(|error| service.failure(&error))?;
    if exists { Ok(token) } else { Err(unauthorised(service, "the token names a tenant that does not exist")) }
}

/// Returns the client that a request names.
fn client(headers: &HeaderMap) -> Result<Option<String>, Problem> {
    let Some(value) = headers.get(CLIENT) else { return Ok(None) };
    match value.to_str().ok().filter(|name| is_name(name)) {
        Some(name) => Ok(Some(name.to_owned())),
        None => Err(Problem::new(StatusCode::BAD_REQUEST, "Invalid header", "`Weir-Client` cannot be used")
            .hint("send a short name, such as claude-code, or leave the header out")),
    }
}

fn unauthorised(service: &Service, detail: &str) -> Problem {
    let mut challenge = vec![("error", "invalid_token")];
    challenge.extend(service.options.oauth.iter().map(|oauth| ("resource_metadata", oauth.metadata_url())));
    bearer::unauthorised(detail, &challenge)
        .hint("send `Authorization: Bearer TOKEN` with a token from `weir-server invite`")
}

fn too_low(caller: &Caller, needed: TokenScope) -> Problem {
    let prefix = if caller.is_oauth { "weir:" } else { "" };
    let [has, wanted] = [caller.token.scope, needed].map(|scope| format!("{prefix}{scope}"));
    bearer::scope_too_low(&has, &wanted).hint(match caller.is_oauth {
        true => format!("ask the issuer of the token for the scope `{wanted}`"),
        false => format!("ask the operator for another token: `weir-server invite --scope {needed}`"),
    })
}
