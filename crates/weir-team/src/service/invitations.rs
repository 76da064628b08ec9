//! Invitations: an admin makes them, and a person who has one gets a token with it.
//!
//! Invariants: an invitation gives no more than its admin has; nobody gets a token in somebody else's name with it; an
//! address that tries many is refused before the storage is asked.

use std::time::Duration;

use axum::body::to_bytes;
use axum::extract::{Request, State};
use axum::http::StatusCode;
use axum::response::Response;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use weir_core::wording::one_line;
use weir_core::{ProjectKey, TenantId, Timestamp, UserId};
use weir_http::answer;
use weir_http::options::parse_life;
use weir_http::problem::Problem;
use weir_records::{
    Acceptance, ApiToken, Credential, Invitation, InvitationCode, InvitationStanding, Invitations, MAX_NAME_BYTES,
    PortError, TokenId, TokenScope, is_name,
};

use super::answers::{parse_json, written};
use super::callers::Caller;
use super::problem::invalid;
use super::strangers::network_of;
use super::{Served, Service};

/// How many invitations of a tenant are kept, open or not.
const MAX_INVITATIONS: usize = 1_000;
/// How often one invitation may be accepted.
const MAX_USES: u32 = 1_000;
/// How long an invitation can be accepted, at most and if its admin does not say.
const MAX_LIFE: Duration = Duration::from_secs(30 * 24 * 60 * 60);
const DEFAULT_LIFE: Duration = Duration::from_secs(7 * 24 * 60 * 60);
/// The largest body of somebody who has no token yet, in bytes.
const MAX_BODY_BYTES: usize = 4 << 10;

/// The body of a new invitation.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct NewInvitation {
    /// Whom it is for: somebody new, or the admin. Without it, those who accept it name themselves.
    user: Option<String>,
    /// What its tokens are good for: `read`, `write` or `admin`; `write` by default.
    scope: Option<String>,
    /// The projects that its tokens are good for; all of the admin's by default.
    projects: Option<Vec<String>>,
    /// How often it may be accepted; once by default.
    #[schemars(range(min = 1, max = MAX_USES))]
    uses: Option<u32>,
    /// How long it may be accepted, such as `8h`; `7d` by default, and at most `30d`.
    valid_for: Option<String>,
    /// How long its tokens are good, such as `90d`; until they are revoked by default.
    token_valid_for: Option<String>,
}

/// A new invitation with its secret, which is shown once.
#[derive(Serialize, JsonSchema)]
pub(super) struct MadeInvitation {
    invitation: String,
    #[serde(flatten)]
    about: ShownInvitation,
}

/// An invitation without its secret. Times are in milliseconds since 1970.
#[derive(Serialize, JsonSchema)]
struct ShownInvitation {
    id: String,
    user: Option<String>,
    scope: &'static str,
    projects: Option<Vec<String>>,
    uses: u32,
    max_uses: u32,
    invited_by: String,
    created_at: i64,
    expires_at: i64,
    /// `open`, `used`, `expired` or `revoked`.
    standing: &'static str,
}

#[derive(Serialize, JsonSchema)]
pub(super) struct ListedInvitations {
    invitations: Vec<ShownInvitation>,
}

#[derive(Serialize, JsonSchema)]
pub(super) struct RevokedInvitation {
    revoked: String,
}

/// What somebody sends who accepts an invitation.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct AcceptedCode {
    invitation: String,
    /// The name that they choose, unless the invitation names them.
    user: Option<String>,
}

/// A new token with its secret, which is shown once.
#[derive(Serialize, JsonSchema)]
pub(super) struct NewToken {
    token: String,
    id: String,
    tenant: String,
    user: String,
    scope: &'static str,
    projects: Option<Vec<String>>,
    /// In milliseconds since 1970.
    expires_at: Option<i64>,
}

impl ShownInvitation {
    fn of(invitation: &Invitation, now: Timestamp) -> Self {
        Self {
            id: invitation.id.to_string(),
            user: invitation.user.as_ref().map(|user| user.0.clone()),
            scope: invitation.scope.as_str(),
            projects: written_keys(invitation.projects.as_deref()),
            uses: invitation.uses,
            max_uses: invitation.max_uses,
            invited_by: invitation.invited_by.0.clone(),
            created_at: invitation.created_at.0,
            expires_at: invitation.expires_at.0,
            standing: invitation.standing(now).as_str(),
        }
    }
}

/// Makes an invitation of the caller's tenant.
pub(super) fn invite(service: &Service, caller: &Caller, new: NewInvitation) -> Result<MadeInvitation, Problem> {
    let failed = |error: PortError| service.failure(&error);
    let (port, now, tenant) = (port(service)?, service.now(), &caller.token.tenant);
    let code = InvitationCode::draw().map_err(failed)?;
    let invitation = invitation(caller, new, &code, now)?;
    if port.invitations(tenant).map_err(failed)?.len() >= MAX_INVITATIONS {
        let detail = format!("the tenant may have {MAX_INVITATIONS} invitations, and has as many");
        return Err(Problem::new(StatusCode::FORBIDDEN, "Quota exceeded", detail).hint(
            "they are removed 90 days after they have expired; `weir-server invite` prints a token without one",
        ));
    }
    if let Some(user) = invitation.user.as_ref().filter(|_| !invitation.is_for_its_admin()) {
        let tokens = service.accounts.tokens(tenant).map_err(failed)?;
        if tokens.iter().any(|token| token.user.0.eq_ignore_ascii_case(&user.0)) {
            return Err(name_taken(&user.0));
        }
    }
    port.add_invitation(&invitation).map_err(failed)?;
    Ok(MadeInvitation { invitation: code.to_string(), about: ShownInvitation::of(&invitation, now) })
}

/// Lists the invitations of the caller's tenant, oldest first.
pub(super) fn list(service: &Service, caller: &Caller) -> Result<ListedInvitations, Problem> {
    let found = port(service)?.invitations(&caller.token.tenant).map_err(|error| service.failure(&error))?;
    let invitations = found.iter().map(|one| ShownInvitation::of(one, service.now())).collect();
    Ok(ListedInvitations { invitations })
}

/// Revokes an invitation of the caller's tenant. The tokens that it gave stay.
pub(super) fn revoke(service: &Service, caller: &Caller, name: &str) -> Result<RevokedInvitation, Problem> {
    let unknown = || {
        let detail = format!("this tenant has no invitation `{}` that is not revoked", one_line(name, 80));
        Problem::new(StatusCode::NOT_FOUND, "Not found", detail).hint("GET /v1/invitations lists them")
    };
    let id = TokenId::parse(name).ok_or_else(unknown)?;
    let revoked = port(service)?.revoke_invitation(id, &caller.token, service.now());
    match revoked.map_err(|error| service.failure(&error))? {
        true => Ok(RevokedInvitation { revoked: id.to_string() }),
        false => Err(unknown()),
    }
}

/// Answers somebody who has an invitation, and no token yet.
pub(super) async fn accept(State(service): Served, request: Request) -> Result<Response, Problem> {
    let (parts, body) = request.into_parts();
    service.take_stranger(network_of(&parts.extensions))?;
    let body = to_bytes(body, MAX_BODY_BYTES).await.map_err(|_| {
        let detail = format!("the body did not arrive, or has more than {MAX_BODY_BYTES} bytes");
        Problem::new(StatusCode::PAYLOAD_TOO_LARGE, "Body too large", detail)
    })?;
    let accepted = service.call(move |service| written(&accepted(service, parse_json(&body)?)?)).await?;
    Ok(answer::written_json(StatusCode::CREATED, accepted))
}

fn accepted(service: &Service, given: AcceptedCode) -> Result<NewToken, Problem> {
    let failed = |error: PortError| service.failure(&error);
    let port = port(service)?;
    let code = InvitationCode::parse(given.invitation.trim()).ok_or_else(unknown_code)?;
    let found = port.invitation(code.id()).map_err(failed)?;
    // An unknown id takes as long as a wrong secret.
    let nothing = blake3::Hash::from_bytes([0; 32]);
    let matches = code.hash() == found.as_ref().map_or(nothing, |found| found.hash);
    let invitation = found.filter(|_| matches).ok_or_else(unknown_code)?;
    let (user, now) = (user_of(&invitation, given.user)?, service.now());
    let credential = Credential::draw().map_err(failed)?;
    let token = ApiToken {
        id: credential.id(),
        hash: credential.hash(),
        tenant: TenantId(invitation.tenant.0),
        user: UserId(user),
        scope: invitation.scope,
        projects: invitation.projects,
        created_at: now,
        expires_at: invitation.token_millis.map(|millis| Timestamp(now.0.saturating_add(millis))),
        revoked_at: None,
    };
    match port.accept(code.id(), &token).map_err(failed)? {
        Acceptance::Added => Ok(NewToken {
            token: credential.to_string(),
            id: token.id.to_string(),
            projects: written_keys(token.projects.as_deref()),
            tenant: token.tenant.0,
            user: token.user.0,
            scope: token.scope.as_str(),
            expires_at: token.expires_at.map(|at| at.0),
        }),
        Acceptance::Closed(standing) => Err(closed(standing)),
        Acceptance::NameTaken => Err(name_taken(&token.user.0)),
    }
}

/// Returns who gets a token: whom the invitation names, or whom its bearer does.
fn user_of(invitation: &Invitation, chosen: Option<String>) -> Result<String, Problem> {
    match (&invitation.user, chosen) {
        (Some(named), None) => Ok(named.0.clone()),
        (Some(named), Some(chosen)) if named.0 == chosen => Ok(chosen),
        (Some(_), Some(_)) => Err(invalid("the invitation is for somebody else").hint("leave `user` out")),
        (None, None) => Err(invalid("the invitation names nobody").hint("send the name that you choose as `user`")),
        (None, Some(chosen)) => {
            // One that looks like somebody else's would be taken for it.
            let is_plain = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || b"._@+-".contains(&byte);
            if is_name(&chosen) && chosen.bytes().all(is_plain) {
                return Ok(chosen);
            }
            let detail = format!("`{}` cannot be the name of a user", one_line(&chosen, 80));
            Err(invalid(detail).hint("use one word of a-z, 0-9 and ._@+-"))
        }
    }
}

/// Returns the invitation that an admin asks for.
fn invitation(
    caller: &Caller,
    new: NewInvitation,
    code: &InvitationCode,
    now: Timestamp,
) -> Result<Invitation, Problem> {
    let NewInvitation { user, scope, projects, uses, valid_for, token_valid_for } = new;
    let (max_uses, scope) = (uses.unwrap_or(1), scope.as_deref().map_or(Some(TokenScope::Write), TokenScope::parse));
    let scope = scope.ok_or_else(|| invalid("`scope` must be `read`, `write` or `admin`"))?;
    if !(1..=MAX_USES).contains(&max_uses) {
        return Err(invalid(format!("`uses` must be between 1 and {MAX_USES}")));
    }
    if user.as_ref().is_some_and(|user| !is_name(user)) {
        return Err(invalid(format!("`user` must have 1 to {MAX_NAME_BYTES} bytes and no control characters")));
    }
    if user.is_some() && max_uses > 1 {
        return Err(invalid("an invitation that names its user can be accepted once").hint("leave `user` out"));
    }
    let life = valid_for.as_deref().map_or(Ok(DEFAULT_LIFE), parse_life).map_err(Problem::from)?;
    if life > MAX_LIFE {
        return Err(invalid("an invitation is valid for 30 days at most").hint("`token_valid_for` is about its tokens"));
    }
    let token_life = token_valid_for.as_deref().map(parse_life).transpose().map_err(Problem::from)?;
    Ok(Invitation {
        id: code.id(),
        hash: code.hash(),
        tenant: caller.token.tenant.clone(),
        user: user.map(UserId),
        scope,
        projects: keys_of(caller, projects)?,
        token_millis: token_life.map(millis),
        max_uses,
        uses: 0,
        invited_by: caller.token.user.clone(),
        invited_with: caller.token.id,
        created_at: now,
        expires_at: Timestamp(now.0.saturating_add(millis(life))),
        revoked_at: None,
    })
}

/// Returns the projects of an invitation: these, or all that the caller has.
fn keys_of(caller: &Caller, wanted: Option<Vec<String>>) -> Result<Option<Vec<ProjectKey>>, Problem> {
    match wanted {
        None => Ok(caller.token.projects.clone()),
        Some(wanted) if wanted.is_empty() => Err(invalid("`projects` names no project").hint("leave it out for all")),
        Some(wanted) => wanted.into_iter().map(|key| caller.scope(key).map(|scope| Some(scope.project))).collect(),
    }
}

/// Returns where invitations are stored. With an issuer, it decides who the users are: the server does not know them
/// all, and could give somebody's name away.
fn port(service: &Service) -> Result<&dyn Invitations, Problem> {
    let port = service.accounts.invitations().filter(|_| service.options.oauth.is_none());
    port.ok_or_else(|| {
        let detail = "this server does not support invitations";
        Problem::new(StatusCode::NOT_IMPLEMENTED, "Not supported", detail)
            .hint("the operator prints tokens (`weir-server invite`), or an OAuth issuer gives them out")
    })
}

fn unknown_code() -> Problem {
    Problem::new(StatusCode::NOT_FOUND, "Unknown invitation", "the invitation is not known")
        .hint("send it as the admin gave it to you: invite_weir_…")
}

fn closed(standing: InvitationStanding) -> Problem {
    let detail = match standing {
        InvitationStanding::Used => "the invitation was accepted already",
        InvitationStanding::Expired => "the invitation has expired",
        InvitationStanding::Revoked | InvitationStanding::Open => "the invitation was revoked",
    };
    Problem::new(StatusCode::GONE, "Closed invitation", detail).hint("ask an admin of the team for another one")
}

fn name_taken(user: &str) -> Problem {
    let detail = format!("the team has a user `{}` already", one_line(user, 80));
    Problem::new(StatusCode::CONFLICT, "Name taken", detail)
        .hint("choose another name; for another machine of the same user, the operator prints a token")
}

fn written_keys(keys: Option<&[ProjectKey]>) -> Option<Vec<String>> {
    keys.map(|keys| keys.iter().map(|key| key.0.clone()).collect())
}

fn millis(time: Duration) -> i64 {
    i64::try_from(time.as_millis()).unwrap_or(i64::MAX)
}
