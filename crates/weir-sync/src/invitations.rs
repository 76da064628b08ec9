//! Invitations of a team: what an admin asks the server for, and how somebody becomes a user. Invariant: a secret is in
//! no error.

use serde_json::{Value, json};
use weir_fetch::api::ApiClient;
use weir_host::error::CommandError;
use weir_records::{Credential, InvitationCode};

use crate::server::{ConnectedServer, expect_success, not_a_team_server};

const PATH: &str = "/v1/invitations";
const NOTHING: &[(&str, &str)] = &[];

/// A new invitation.
#[derive(Debug)]
pub struct NewInvitation {
    /// What the new user gets.
    pub code: String,
    /// The server's whole answer, which also says what the invitation is good for.
    pub answer: Value,
}

/// Asks for an invitation.
pub fn invite(server: &ConnectedServer, wanted: &Value) -> Result<NewInvitation, CommandError> {
    let answer = expect_success(&server.ask(|client| client.post(PATH, &wanted.to_string()))?)?;
    let code = answer["invitation"].as_str().filter(|code| InvitationCode::parse(code).is_some());
    let code = code.ok_or_else(|| not_a_team_server("invitation"))?.to_owned();
    Ok(NewInvitation { code, answer })
}

/// Returns the invitations of the team.
pub fn invitations(server: &ConnectedServer) -> Result<Vec<Value>, CommandError> {
    let listed = expect_success(&server.ask(|client| client.get(PATH, NOTHING))?)?;
    listed["invitations"].as_array().cloned().ok_or_else(|| not_a_team_server("invitations"))
}

/// Revokes an invitation by its id.
pub fn revoke_invitation(server: &ConnectedServer, id: &str) -> Result<(), CommandError> {
    let revoke = |client: &ApiClient| client.delete(&format!("{PATH}/{id}"), NOTHING);
    expect_success(&server.ask(revoke)?).map(drop)
}

/// Makes a token with an invitation, under a name if the invitation has none. Another call with it may be refused.
pub fn accept_invitation(
    server: &ConnectedServer,
    invitation: &str,
    user: Option<&str>,
) -> Result<String, CommandError> {
    // The text may be a mistyped secret, so it is not repeated.
    let invitation = InvitationCode::parse(invitation.trim()).ok_or_else(|| {
        CommandError::usage("that is not an invitation to a team").hint("an admin prints one: weir invite USER")
    })?;
    let body = json!({ "invitation": invitation.to_string(), "user": user }).to_string();
    let accepted = expect_success(&server.ask(|client| client.post(&format!("{PATH}/accept"), &body))?)?;
    let token = accepted["token"].as_str().filter(|token| Credential::parse(token).is_some());
    token.map(str::to_owned).ok_or_else(|| not_a_team_server("token"))
}
