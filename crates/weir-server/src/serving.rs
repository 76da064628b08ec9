//! `weir-server serve`: the service of a team behind the sockets and guards of `weir-server serve`. Invariant: what a guard or
//! a limit refuses is observed like every other answer, so it has a request ID, is counted and is logged.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use clap::ArgMatches;
use weir_host::env::Env;
use weir_host::error::{CommandError, ErrorKind};
use weir_host::paint;
use weir_host::signal;
use weir_host::when;
use weir_http::guard::guarded;
use weir_http::listen::Listening;
use weir_http::options::{Door, announce, hosts, limits, log_format, runtime};
use weir_team::{ResourceServer, Service, ServiceOptions, Started};

use crate::failure::failed;
use crate::storage::{Place, Storage};
use crate::traces::{TraceOptions, Traces};

/// How many calls block a thread at once: at least so many, and several for each that one tenant may have at work.
const CALL_THREADS: usize = 96;
const THREADS_PER_TENANT_CALL: usize = 4;
/// How long the last copy of the index may take. One that is not finished leaves the copy before as it was.
const COPY_TIMEOUT: Duration = Duration::from_secs(10);

/// Serves until a signal arrives. Open requests may finish.
pub(crate) fn serve(env: &Env, arguments: &ArgMatches) -> Result<(), CommandError> {
    let door = Door::of(env, arguments)?;
    let place = Place::of(env, arguments)?;
    let Storage { ports, accounts, index_started, copying, meaning, connections } = place.open()?;
    let usual = ServiceOptions::new(when::now, report);
    let max_tenant_calls = place.tenant_calls().unwrap_or(usual.max_tenant_calls);
    let threads = CALL_THREADS.max(THREADS_PER_TENANT_CALL * max_tenant_calls);
    let (limits, runtime, trace_options) = (limits(arguments), runtime(threads)?, TraceOptions::of(env)?);
    let started = index_started.clone();
    let options = ServiceOptions {
        oauth: oauth(env, arguments)?.map(Arc::new),
        log: log_format(arguments),
        version: env!("CARGO_PKG_VERSION"),
        limits,
        max_tenant_calls,
        max_call_time: limits.request_timeout.map_or(usual.max_call_time, call_time),
        index_started,
        copying,
        meaning,
        connections,
        ..usual
    };
    let served = runtime.block_on(async {
        let listening = door.open().await?;
        let operator = match arguments.get_one::<SocketAddr>("operator-metrics") {
            Some(address) => {
                let listening = Listening::bind(*address).await?;
                let hosts = hosts(listening.address(), arguments);
                Some((listening, hosts))
            }
            None => None,
        };
        let traces = trace_options.map(Traces::start).transpose()?;
        let options = ServiceOptions { watch: traces.as_ref().map(Traces::watcher), ..options };
        let service = Service::start(ports, accounts, options).map_err(failed)?;
        let hosts = hosts(listening.address(), arguments);
        announce(&listening, "`weir-server invite` prints a token for a user of the team");
        started.iter().for_each(say_how_it_started);
        if let Some((operator, hosts)) = operator {
            paint::warn(&format!("weir: figures for the operator on http://{}/metrics", operator.address()));
            tokio::spawn(operator.serve(guarded(Arc::clone(&service).operator_router(), hosts), limits));
        }
        let router = Arc::clone(&service).router_behind(|routes| guarded(routes, hosts));
        let served = listening.run(router, limits).await;
        copy_at_the_end(&service).await;
        if let Some(traces) = traces {
            traces.finish().await;
        }
        served
    });
    // Work that was cut off must not keep the program from exiting.
    runtime.shutdown_background();
    served
}

/// Copies the index, if it is to be copied. A second signal ends it at once.
async fn copy_at_the_end(service: &Arc<Service>) {
    let unfinished = "weir: ended before the index was copied; the previous copy is intact";
    tokio::select! {
        () = service.copy_index() => {}
        () = tokio::time::sleep(COPY_TIMEOUT) => paint::warn(unfinished),
        () = signal::asked_to_end() => paint::warn(unfinished),
    }
}

/// Says that an index was restored or has to be rebuilt, and why.
fn say_how_it_started(started: &Started) {
    match started {
        Started::Found | Started::Empty => {}
        Started::Restored { refused } => {
            refused.iter().for_each(|reason| report(reason));
            paint::warn("weir: the index was restored from a copy, and follows the log from there");
        }
        Started::MadeAgain { reason } => {
            report(reason);
            paint::warn("weir: the index is being rebuilt from the log; searches miss what is not in it yet");
        }
    }
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
