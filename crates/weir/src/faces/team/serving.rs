//! `weir serve --team`: the service of a team behind the sockets and guards of `weir serve`. Invariant: what a guard or
//! a limit refuses is observed like every other answer, so it has a request ID, is counted and is logged.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use clap::ArgMatches;
use weir_server::{AnsweredRequest, LocalTool, ResourceServer, Service, ServiceOptions};

use super::storage::{Place, Storage, failed};
use crate::env::Env;
use crate::error::{CommandError, ErrorKind};
use crate::faces::http::command::{Door, announce, hosts, limits, log_format, runtime};
use crate::faces::http::guard::guarded;
use crate::faces::http::observe::{LogFormat, log_json, log_text};
use crate::faces::http::request_limits::{LimitAdvice, limited_with};
use crate::faces::paint;
use crate::operations::OPERATIONS;
use crate::when;

/// What to do about a limit. A call blocks in the storage, and nothing takes it back.
const ADVICE: LimitAdvice = LimitAdvice {
    late: "may still be carried out",
    late_hint: "repeat an upload as it is, since nothing is stored twice; look before you repeat a note",
    large_hint: "send fewer records at once, or shorter texts",
};

/// Serves until a signal arrives. Open requests may finish.
pub(crate) fn serve(env: &Env, arguments: &ArgMatches) -> Result<(), CommandError> {
    let door = Door::of(arguments)?;
    let Storage { ports, accounts } = Place::of(env, arguments)?.open()?;
    let (limits, runtime) = (limits(arguments), runtime()?);
    let usual = ServiceOptions::new(when::now, report);
    let log: Option<fn(&AnsweredRequest<'_>)> = match log_format(arguments) {
        LogFormat::Off => None,
        LogFormat::Text => Some(log_text),
        LogFormat::Json => Some(log_json),
    };
    let options = ServiceOptions {
        oauth: oauth(env, arguments)?.map(Arc::new),
        log,
        version: env!("CARGO_PKG_VERSION"),
        max_body_bytes: limits.max_body_bytes,
        max_call_time: limits.request_timeout.map_or(usual.max_call_time, call_time),
        local_tools: OPERATIONS.iter().map(|one| LocalTool { tool: one.tool, command: one.command }).collect(),
        ..usual
    };
    let served = runtime.block_on(async {
        let listening = door.open().await?;
        let service = Service::start(ports, accounts, options).map_err(failed)?;
        let hosts = hosts(listening.address(), arguments);
        announce(&listening, "`weir team invite` prints a token for a user of the team");
        let router = service.router_behind(|routes| limited_with(guarded(routes, hosts), limits, ADVICE));
        listening.run(router, limits).await
    });
    // Work that was cut off must not keep the program from exiting.
    runtime.shutdown_background();
    served
}

/// Returns how long a call of the storage may take. It is a little less than its request, so that the answer that says
/// what became of the call is the one that is sent.
fn call_time(request_timeout: Duration) -> Duration {
    request_timeout * 9 / 10
}

/// Reads what is known of an issuer of access tokens.
fn oauth(env: &Env, arguments: &ArgMatches) -> Result<Option<ResourceServer>, CommandError> {
    let text = |name: &str| arguments.get_one::<String>(name);
    let keys = arguments.get_one::<PathBuf>("oauth-keys");
    let (Some(issuer), Some(resource), Some(keys)) = (text("oauth-issuer"), text("resource"), keys) else {
        return Ok(None);
    };
    let path = env.folder.join(keys);
    let keys = std::fs::read_to_string(&path)
        .map_err(|error| CommandError::new(ErrorKind::Failed, format!("cannot read {}: {error}", path.display())))?;
    ResourceServer::new(issuer, resource, &keys).map(Some).map_err(failed)
}

/// Tells the operator what went wrong inside the server.
fn report(fault: &str) {
    paint::warn(&format!("weir: {fault}"));
}
