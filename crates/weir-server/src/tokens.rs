//! `weir-server`: creates tenants, and gives and revokes tokens. Invariant: standard output has a token and nothing else,
//! so that a script can take it; a secret is printed once.

use std::sync::Arc;

use clap::ArgMatches;
use serde_json::{Value, json};
use weir_core::{ProjectKey, TenantId, Timestamp, UserId};
use weir_host::answer::{Answer, counted, one_line};
use weir_host::env::Env;
use weir_host::error::{CommandError, ErrorKind};
use weir_host::paint;
use weir_host::when;
use weir_http::options::parse_life;
use weir_records::{
    Accounts, ApiToken, Credential, MAX_NAME_BYTES, Revoked, TokenId, TokenScope, TokenStanding, is_name,
};

use crate::failure::failed;
use crate::storage::{Place, Prepared};
use crate::{audit, cells, delete, erase, migrate};

/// Runs a command that is about teams and their tokens.
pub(crate) fn run(env: &Env, name: &str, arguments: &ArgMatches) -> Result<Answer, CommandError> {
    let place = Place::of(env, arguments)?;
    match name {
        "migrate" => return migrate::run(&place, arguments),
        "delete" => return delete::run(&place, arguments),
        "erase" => return erase::run(&place, arguments),
        "audit" => return audit::run(&place, arguments),
        "cells" => return cells::list(place.directory()?, arguments),
        "move" => return cells::move_tenant(place.directory()?, arguments),
        _ => {}
    }
    let tenant = TenantId(named(arguments, "tenant")?);
    if name == "init" {
        return init(&place, tenant, arguments);
    }
    let team = Team { accounts: place.accounts()?, tenant };
    match name {
        "invite" => team.invite(arguments),
        "list" => team.list(),
        "rotate" => team.rotate(token_of(arguments)?),
        "revoke" => team.revoke(arguments),
        other => Err(CommandError::usage(format!("unknown command `{other}`"))),
    }
}

/// One tenant of a server.
struct Team {
    accounts: Arc<dyn Accounts>,
    tenant: TenantId,
}

/// Creates a tenant with a token of its admin, or changes the quota of one that exists.
fn init(place: &Place, tenant: TenantId, arguments: &ArgMatches) -> Result<Answer, CommandError> {
    let user = UserId(named(arguments, "user")?);
    let ends_update = arguments.get_flag("end-update");
    let Prepared { ran, schema } = place.prepare()?;
    if ends_update {
        place.end_update()?;
    }
    if !ran.is_empty() {
        paint::warn(&format!("weir: prepared the database: {}", ran.join(", ")));
    }
    let team = Team { accounts: place.accounts()?, tenant };
    let cell = arguments.get_one::<String>("cell").map(String::as_str);
    let is_new = place.create_tenant(&*team.accounts, &team.tenant, cell)?;
    let quota = arguments.get_one::<u64>("max-records").copied();
    if let Some(quota) = quota {
        team.accounts.set_max_records(&team.tenant, quota).map_err(failed)?;
    }
    let byte_quota = arguments.get_one::<u64>("max-bytes").copied();
    if let Some(quota) = byte_quota {
        team.accounts.set_max_bytes(&team.tenant, quota).map_err(failed)?;
    }
    let tenant = &team.tenant.0;
    let limits = [quota.map(|most| format!("{most} records")), byte_quota.map(|most| format!("{most} bytes"))];
    let limits = limits.into_iter().flatten().collect::<Vec<_>>().join(" and ");
    match (is_new, limits.is_empty()) {
        (true, _) => team.issue(Rights { user, scope: TokenScope::Admin, projects: None, expires_at: None }),
        (false, false) => {
            let data = json!({ "tenant": tenant, "max_records": quota, "max_bytes": byte_quota });
            Ok(Answer::new(format!("the tenant `{tenant}` may have {limits}"), data))
        }
        (false, true) if ends_update => {
            let text = format!("the update has ended: no server of a schema before {schema} can start any more");
            Ok(Answer::new(text, json!({ "tenant": tenant, "schema": schema, "migrations": ran, "ended": true })))
        }
        (false, true) if !ran.is_empty() => {
            let text = format!("the tenant `{tenant}` exists, and its database has schema {schema} now");
            Ok(Answer::new(text, json!({ "tenant": tenant, "schema": schema, "migrations": ran })))
        }
        (false, true) => {
            let what =
                format!("already prepared, schema {schema}: the tenant `{tenant}` exists, and nothing was changed");
            let text = format!("{what}; `weir-server invite` prints a token for a user");
            Ok(Answer::new(text, json!({ "tenant": tenant, "schema": schema, "migrations": ran })))
        }
    }
}

impl Team {
    fn invite(&self, arguments: &ArgMatches) -> Result<Answer, CommandError> {
        let user = UserId(named(arguments, "user")?);
        let scope = arguments.get_one::<String>("scope").and_then(|name| TokenScope::parse(name));
        let life = arguments.get_one::<String>("valid-for").map(|text| parse_life(text)).transpose()?;
        let projects: Vec<&String> = arguments.get_many::<String>("project").into_iter().flatten().collect();
        for project in &projects {
            check(project, "project")?;
        }
        let until = |life: std::time::Duration| {
            Timestamp(when::now().0.saturating_add(i64::try_from(life.as_millis()).unwrap_or(i64::MAX)))
        };
        let keys: Vec<ProjectKey> = projects.into_iter().map(|project| ProjectKey(project.clone())).collect();
        self.issue(Rights {
            user,
            scope: scope.unwrap_or(TokenScope::Write),
            projects: Some(keys).filter(|keys| !keys.is_empty()),
            expires_at: life.map(until),
        })
    }

    fn list(&self) -> Result<Answer, CommandError> {
        let (tokens, now) = (self.accounts.tokens(&self.tenant).map_err(failed)?, when::now());
        let tenant = one_line(&self.tenant.0, 80);
        if tokens.is_empty() {
            return Ok(Answer::nothing(format!("the tenant `{tenant}` has no tokens"), json!({ "tokens": [] })));
        }
        let lines = tokens.iter().map(|token| {
            let expires = token.expires_at.map_or_else(|| "never".to_owned(), when::show);
            let projects = match &token.projects {
                None => "all projects".to_owned(),
                Some(keys) => keys.iter().map(|key| one_line(&key.0, 80)).collect::<Vec<_>>().join(", "),
            };
            let (user, standing) = (one_line(&token.user.0, 40), token.standing(now).as_str());
            format!("{} {standing:8} {:6} {user}, {projects}, expires {expires}", token.id, token.scope.as_str())
        });
        let text = lines.collect::<Vec<_>>().join("\n");
        let data: Vec<Value> = tokens.iter().map(|token| describe(token, now)).collect();
        Ok(Answer::new(text, json!({ "tenant": self.tenant.0.as_str(), "tokens": data })))
    }

    fn rotate(&self, id: TokenId) -> Result<Answer, CommandError> {
        let known = self.accounts.token(id).map_err(failed)?;
        let is_good =
            |token: &ApiToken| token.tenant == self.tenant && token.standing(when::now()) == TokenStanding::Good;
        let Some(old) = known.filter(is_good) else { return Err(unknown(id)) };
        let ApiToken { user, scope, projects, expires_at, .. } = old;
        self.replace(Some(id), Rights { user, scope, projects, expires_at })
    }

    fn revoke(&self, arguments: &ArgMatches) -> Result<Answer, CommandError> {
        let revoked = match arguments.get_one::<String>("user") {
            Some(user) => Revoked::User(UserId(user.clone())),
            None => Revoked::Token(token_of(arguments)?),
        };
        let count = self.accounts.revoke(&self.tenant, &revoked, when::now()).map_err(failed)?;
        if count == 0 {
            return Err(match revoked {
                Revoked::Token(id) => unknown(id),
                Revoked::User(user) => {
                    let shown = one_line(&user.0, 80);
                    CommandError::new(ErrorKind::NotFound, format!("the user `{shown}` has no valid token"))
                        .hint("`weir-server list` lists them")
                }
            });
        }
        let tokens = counted(usize::try_from(count).unwrap_or(usize::MAX), "token", "tokens");
        Ok(Answer::new(format!("revoked {tokens}; servers refuse them from now on"), json!({ "revoked": count })))
    }

    /// Adds a new token and prints it.
    fn issue(&self, rights: Rights) -> Result<Answer, CommandError> {
        let nothing: Option<TokenId> = None;
        self.replace(nothing, rights)
    }

    /// Adds a new token in the place of another one, if any, and prints it.
    fn replace(&self, replaced: Option<TokenId>, rights: Rights) -> Result<Answer, CommandError> {
        let credential = Credential::draw().map_err(failed)?;
        let Rights { user, scope, projects, expires_at } = rights;
        let token = ApiToken {
            id: credential.id(),
            hash: credential.hash(),
            tenant: self.tenant.clone(),
            user,
            scope,
            projects,
            created_at: when::now(),
            expires_at,
            revoked_at: None,
        };
        self.accounts.add_token(&token, replaced).map_err(failed)?;
        paint::warn("weir: the token is shown once; it is stored nowhere");
        let mut data = describe(&token, token.created_at);
        if let Some(fields) = data.as_object_mut() {
            fields.insert("token".to_owned(), credential.to_string().into());
        }
        Ok(Answer::new(credential.to_string(), data))
    }
}

/// What a new token is good for.
struct Rights {
    user: UserId,
    scope: TokenScope,
    projects: Option<Vec<ProjectKey>>,
    expires_at: Option<Timestamp>,
}

/// Describes a token, without its secret.
fn describe(token: &ApiToken, now: Timestamp) -> Value {
    let projects = token.projects.as_ref().map(|keys| keys.iter().map(|key| key.0.as_str()).collect::<Vec<_>>());
    json!({
        "id": token.id.to_string(),
        "tenant": token.tenant.0.as_str(),
        "user": token.user.0.as_str(),
        "scope": token.scope.as_str(),
        "projects": projects,
        "created": when::show(token.created_at),
        "expires": token.expires_at.map(when::show),
        "standing": token.standing(now).as_str(),
    })
}

fn named(arguments: &ArgMatches, option: &str) -> Result<String, CommandError> {
    let name = arguments.get_one::<String>(option).cloned().unwrap_or_default();
    check(&name, option)?;
    Ok(name)
}

fn check(name: &str, what: &str) -> Result<(), CommandError> {
    if is_name(name) {
        return Ok(());
    }
    Err(CommandError::usage(format!("`{}` cannot be the name of a {what}", one_line(name, 80)))
        .hint(format!("use 1 to {MAX_NAME_BYTES} bytes without control characters")))
}

fn token_of(arguments: &ArgMatches) -> Result<TokenId, CommandError> {
    let text = arguments.get_one::<String>("token").map(String::as_str).unwrap_or_default();
    let id = TokenId::parse(text).or_else(|| Credential::parse(text).map(|token| token.id()));
    // The text may be a mistyped secret, so it is not repeated.
    id.ok_or_else(|| {
        CommandError::usage("that is neither a token nor a token's id").hint("`weir-server list` has the ids")
    })
}

fn unknown(id: TokenId) -> CommandError {
    CommandError::new(ErrorKind::NotFound, format!("this tenant has no valid token `{id}`"))
        .hint("`weir-server list` lists them; --tenant names another tenant")
}
