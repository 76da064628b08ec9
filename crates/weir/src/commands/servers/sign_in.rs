//! `weir servers login` and `logout`: signing in at a server behind Weir that asks for it.

use clap::{Arg, ArgMatches, Command, value_parser};
use serde_json::json;
use weir_context::Context;
use weir_core::wording::counted;
use weir_gateway::entries::ServerEntry;
use weir_gateway::sign_in::{self, SignIn, SignInWish};
use weir_gateway::{ClientPeer, Gateway, ServerFailure};
use weir_host::answer::Answer;
use weir_host::error::{CommandError, ErrorKind};
use weir_host::paint;

pub(super) fn with_commands(command: Command, name: Arg) -> Command {
    let client = Arg::new("client-id").long("client-id").value_name("ID");
    let port = Arg::new("port").long("port").value_name("PORT").value_parser(value_parser!(u16)).default_value("0");
    let login = Command::new("login")
        .about("Sign in at a remote server that asks for it (OAuth)")
        .after_long_help(
            "Examples:\n  weir servers add docs --url https://example.com/mcp\n  weir servers login docs\n\nPrints an \
             address to open in a browser on this machine, and waits for up to five minutes. Tokens are kept in a file \
             that only you can read, and renewed when they expire.",
        )
        .arg(name.clone())
        .arg(client.help("Id of a client that you have registered at the provider [default: register Weir]"))
        .arg(port.help("Port that the browser returns to, if the registered client names one; 0 for any"));
    let logout = Command::new("logout").about("Forget what signing in at a server gave").arg(name);
    command.subcommand(login).subcommand(logout)
}

/// Signs in, and asks the server for its tools.
pub(super) async fn login(
    context: &Context,
    (name, entry): (&str, &ServerEntry),
    arguments: &ArgMatches,
) -> Result<Answer, CommandError> {
    let client_id = arguments.get_one::<String>("client-id").map(String::as_str);
    let port = arguments.get_one::<u16>("port").copied().unwrap_or_default();
    let was_signed_in = sign_in::is_signed_in(context.paths(), name, entry);
    if !was_signed_in && tools(context, name).await.is_ok() {
        let text = format!("{name} does not ask for a sign-in; `weir servers test {name}` lists its tools");
        return Ok(Answer::new(text, json!({ "server": name, "signed_in": false })));
    }
    let sign_in = SignIn::begin(context.paths(), (name, entry), SignInWish { client_id, port }).await?;
    let (host, address) = (sign_in.host(), sign_in.address());
    paint::warn(&format!(
        "{name} wants you to sign in at {host}. Open this address in a browser here:\n\n  {address}\n"
    ));
    context.report_progress("waiting for the browser; Ctrl-C gives up");
    sign_in.finish().await?;
    match tools(context, name).await {
        Ok(tools) => {
            let text = format!("✓ signed in at {name}: {}", counted(tools, "tool", "tools"));
            Ok(Answer::new(text, json!({ "server": name, "signed_in": true, "tools": tools })))
        }
        Err(failure) => {
            let error =
                CommandError::new(ErrorKind::Failed, format!("signed in, but {name} cannot be used: {failure}"));
            Err(error.hint(format!("`weir servers test {name}` tries again")))
        }
    }
}

/// Returns how many tools a server lists.
async fn tools(context: &Context, name: &str) -> Result<usize, ServerFailure> {
    context.report_progress(&format!("asking {name}"));
    let gateway = Gateway::new(context, ClientPeer::default());
    let listed = gateway.learn(name).await;
    gateway.end().await;
    listed.map(|list| list.tools.len())
}

pub(super) fn logout(context: &Context, (name, _): (&str, &ServerEntry)) -> Result<Answer, CommandError> {
    let was_signed_in = sign_in::forget(context.paths(), name)?;
    let text = match was_signed_in {
        true => format!("✓ forgot the sign-in at {name}; to end it there too, revoke it in your account"),
        false => format!("you are not signed in at {name}"),
    };
    Ok(Answer::new(text, json!({ "server": name, "was_signed_in": was_signed_in })))
}
