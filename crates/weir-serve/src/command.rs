//! The command `weir serve`: its options, and what it says when it starts.

use clap::builder::PossibleValuesParser;
use clap::{Arg, ArgAction, ArgMatches, Command};
use serde_json::json;
use weir_context::Context;
use weir_core::Timestamp;
use weir_host::answer::Answer;
use weir_host::env::Env;
use weir_host::error::CommandError;
use weir_host::face::Face;
use weir_host::paint;
use weir_host::when;
use weir_http::options::{
    Door, address_options, announce, hosts, limit_options, limits, log_format, parse_life, runtime,
};
use weir_run::unfinished::{self, AuditDepth};

use super::calls::MAX_THREADS;
use super::compat::Compat;
use super::tokens::{self, TokenScope, Tokens};
use super::{Server, ServerState};

pub const SERVE: &str = "serve";
const AFTER_HELP: &str = "\
Examples:
  weir serve                                             serve this project on 127.0.0.1:4747
  weir serve --print-token --scope read                  print a token that may only read
  weir serve --print-token --scope run --valid-for 8h    print a token that expires
  weir serve --bind 127.0.0.1:0 --log json               choose a free port, log requests
  weir serve --compat engram --bind 127.0.0.1:7437       also serve engram's plugins
  weir serve --bind 0.0.0.0:4747 --tls-cert cert.pem --tls-key key.pem --allow-host dev.example

A call:
  TOKEN=$(weir serve --print-token --scope read)
  curl http://127.0.0.1:4747/v1/tools/ctx_search -H \"Authorization: Bearer $TOKEN\" \\
    -H 'Content-Type: application/json' -d '{\"queries\": [\"pool size\"]}'

Routes: POST /v1/tools/NAME, POST /mcp (MCP Streamable HTTP), GET /context, /openapi.json, /health, /ready, /metrics.
Scopes: read reads; write also adds to the store and removes from it; run also runs code and changes files.
Calls that need the user's consent are refused, because a server has nobody to ask. docs/http.md has the details.";

pub fn command() -> Command {
    Command::new(SERVE)
        .about("Serve the operations over HTTP: REST with OpenAPI, and MCP Streamable HTTP")
        .after_long_help(AFTER_HELP)
        .args(address_options())
        .arg(compat_option())
        .args(token_options())
        .args(limit_options())
}

fn compat_option() -> Arg {
    Arg::new("compat")
        .long("compat")
        .value_name("PROGRAM")
        .value_parser(PossibleValuesParser::new(Compat::NAMES))
        .help("Also answer this program's plugins, and offer its tools under their own names")
}

fn token_options() -> [Arg; 4] {
    [
        Arg::new("print-token").long("print-token").action(ArgAction::SetTrue).help("Print a token and exit"),
        Arg::new("scope")
            .long("scope")
            .value_name("SCOPE")
            .value_parser(PossibleValuesParser::new(TokenScope::ALL.iter().map(|scope| scope.as_str())))
            .requires("print-token")
            .help("Scope of the printed token [default: run]"),
        Arg::new("valid-for")
            .long("valid-for")
            .value_name("TIME")
            .requires("print-token")
            .help("Print a new token that expires after this time, such as 30m, 8h or 7d"),
        Arg::new("revoke-tokens")
            .long("revoke-tokens")
            .action(ArgAction::SetTrue)
            .conflicts_with("print-token")
            .help("Revoke all tokens, create new ones and exit"),
    ]
}

/// Runs the command. Returns an answer if there is one to print.
pub fn run(env: &Env, arguments: &ArgMatches) -> Result<Option<Answer>, CommandError> {
    let context = Context::new(env, Face::Http)?;
    let data = &context.paths().data;
    if arguments.get_flag("revoke-tokens") {
        tokens::renew(data)?;
        return Ok(Some(Answer::new("revoked all tokens and created new ones".to_owned(), json!({ "revoked": true }))));
    }
    if arguments.get_flag("print-token") {
        return token(&context, arguments).map(Some);
    }
    let door = Door::of(env, arguments)?;
    let tokens = Tokens::open(data)?;
    unfinished::finish(context.paths(), AuditDepth::Full).iter().for_each(|remark| paint::warn(remark));
    let runtime = runtime(MAX_THREADS)?;
    let served = runtime.block_on(async {
        let listening = door.open().await?;
        let compat = arguments.get_one::<String>("compat").and_then(|name| Compat::parse(name));
        let path = tokens.path().display();
        announce(&listening, &format!("tokens are in {path}; `weir serve --print-token --scope read` prints one"));
        if compat.is_some() {
            paint::warn("weir: plugins need no token if a process of this user calls from this machine");
        }
        let hosts = hosts(listening.address(), arguments);
        let server = Server { listening, hosts, limits: limits(arguments) };
        let state = ServerState::new(&context, tokens, log_format(arguments)).with_compat(compat);
        server.serve(&context, state).await
    });
    // Work that was cut off must not keep the program from exiting.
    runtime.shutdown_background();
    served.map(|()| None)
}

/// Returns a token to print.
fn token(context: &Context, arguments: &ArgMatches) -> Result<Answer, CommandError> {
    let scope =
        arguments.get_one::<String>("scope").and_then(|name| TokenScope::parse(name)).unwrap_or(TokenScope::Run);
    let life = arguments.get_one::<String>("valid-for").map(|text| parse_life(text)).transpose()?;
    let expires = life.map(|life| when::now().0.saturating_add(i64::try_from(life.as_millis()).unwrap_or(i64::MAX)));
    let token = tokens::issue(&context.paths().data, scope, expires)?;
    let expires = expires.map(|at| when::show(Timestamp(at)));
    let data = json!({ "token": token, "scope": scope.as_str(), "expires": expires });
    Ok(Answer::new(token, data))
}
