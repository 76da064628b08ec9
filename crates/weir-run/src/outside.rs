//! What a run may reach outside: the hosts that the user has allowed, the authenticated programs that are run on its
//! behalf, and the tools of other MCP servers.
//!
//! The listeners are created inside the sandbox and served here. Credentials stay outside: a run gets only the output
//! of a program, and only if its entire code is that one command. A call of a tool is judged as one that a model makes,
//! except that nobody has been asked about it yet.

use std::any::Any;
use std::ffi::{OsStr, OsString};
use std::io::{self, Write as _};
use std::net::Ipv4Addr;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use weir_context::{Context, ToolCallWords, ToolCaller};
use weir_core::run::{Ended, Stream};
use weir_core::wording::quoted;
use weir_host::config;
use weir_host::error::{CommandError, ErrorKind};
use weir_policy::judge::simple_literal;
use weir_policy::user_paths::UserPaths;
use weir_runner::broker::{self, Call, Grant, Token};
use weir_runner::egress::{self, HostPattern, Patience, system_resolver};
use weir_runner::{BROKER_PORT, Level, Network, Run, Spec, Streams};

use super::RunRequest;
use super::environment::search_path;
pub(super) use weir_host::env::WEIR_BROKER_TOKEN as TOKEN;

/// The command that calls a tool of another MCP server from a run.
const WEIR: &str = "weir";
const CALL: &str = "call";
/// How many tools a run may call, and how many bytes it may get from them.
const MAX_TOOL_CALLS: u32 = 500;
const MAX_TOOL_BYTES: u64 = 256 << 20;
/// The first argument that starts this program as a stand-in for a brokered one.
pub const STAND_IN: &str = "broker-call";
/// Variables that every program needs and that cannot make one load code.
const PLAIN: &[&str] = &["HOME", "USER", "LOGNAME", "LANG", "TZ"];
/// How many times a run may use its command.
const MAX_USES: u32 = 3;
/// The variables that each program needs: names, or prefixes of names.
const VARIABLES: &[(&str, &[&str])] = &[
    ("gh", &["GH_TOKEN", "GITHUB_TOKEN", "GH_HOST", "GH_CONFIG_DIR"]),
    ("aws", &["AWS_"]),
    ("gcloud", &["CLOUDSDK_", "GOOGLE_APPLICATION_CREDENTIALS"]),
    ("kubectl", &["KUBECONFIG"]),
    ("docker", &["DOCKER_HOST", "DOCKER_CONFIG", "DOCKER_CONTEXT", "DOCKER_CERT_PATH", "DOCKER_TLS_VERIFY"]),
];

pub(super) struct OutsideAccess {
    hosts: Option<Vec<HostPattern>>,
    programs: Vec<String>,
    grant: Option<Grant>,
    tools: Option<BoundedCaller>,
    context: Context,
    folder: PathBuf,
    timeout: Duration,
}

impl OutsideAccess {
    /// Decides what a run may reach.
    pub(super) fn of(context: &Context, order: &RunRequest) -> Result<Self, CommandError> {
        let config = context.config();
        let hosts = match config.network {
            config::Network::AllowList => {
                let hosts = config.run.hosts.iter().map(|host| host.parse());
                Some(
                    hosts
                        .collect::<Result<Vec<HostPattern>, _>>()
                        .map_err(|error| unusable(context, &error.to_string()))?,
                )
            }
            _ => None,
        };
        let programs = config.run.brokered.clone();
        if let Some(unknown) = programs.iter().find(|name| !broker::programs().any(|known| known == name.as_str())) {
            let known = broker::programs().collect::<Vec<_>>().join(", ");
            return Err(unusable(context, &format!("`{unknown}` cannot be brokered; available: {known}")));
        }
        let tools = context.session().tools().cloned().map(BoundedCaller::new);
        let grant = match grant(order, &programs)? {
            None if tools.is_some() => Some(grant_of_tools()?),
            grant => grant,
        };
        let (folder, timeout) = (order.folder.clone(), order.timeout);
        Ok(Self { hosts, programs, grant, tools, context: context.clone(), folder, timeout })
    }

    pub(super) fn network(&self) -> Network {
        match self.context.config().network {
            config::Network::On => Network::Host,
            _ if self.hosts.is_some() || self.has_stand_ins() => Network::Listeners,
            _ => Network::Off,
        }
    }

    /// Whether no host can be reached. The listener of a broker does not count as network.
    pub(super) fn is_offline(&self) -> bool {
        self.context.config().network == config::Network::Off
    }

    /// Whether there is a proxy to announce to the run.
    pub(super) fn has_proxy(&self) -> bool {
        self.hosts.is_some()
    }

    /// Whether there are programs that stand for others.
    pub(super) fn has_stand_ins(&self) -> bool {
        self.has_tools() || !self.programs.is_empty()
    }

    /// Whether the code can call tools of other MCP servers.
    pub(super) fn has_tools(&self) -> bool {
        self.tools.is_some()
    }

    /// Returns the stand-ins for the brokered programs and for `weir call`, for a folder that comes first in `PATH`.
    pub(super) fn stand_ins(&self, folder: &Path) -> Vec<(PathBuf, Vec<u8>)> {
        if !self.has_stand_ins() {
            return Vec::new();
        }
        let Ok(program) = std::env::current_exe() else { return Vec::new() };
        let program = quoted(&program.to_string_lossy());
        let script = |name: &String| format!("#!/bin/sh\nexec {program} {STAND_IN} {name} \"$@\"\n").into_bytes();
        let own = self.has_tools().then(|| WEIR.to_owned());
        self.programs.iter().chain(&own).map(|name| (folder.join(name), script(name))).collect()
    }

    pub(super) fn token(&self) -> Option<String> {
        self.grant.as_ref().map(|grant| grant.token.to_text())
    }

    /// Serves the listeners of a sandbox until the returned value is dropped.
    pub(super) fn serve(&self, listeners: Vec<OwnedFd>) -> Box<dyn Any> {
        let mut listeners = listeners.into_iter();
        let (proxy, desk) = (listeners.next(), listeners.next());
        let egress = self.hosts.clone().zip(proxy).map(|(allow, listener)| {
            let setting = "run.hosts";
            let rules = egress::Rules { allow, resolve: system_resolver(), setting, patience: Patience::default() };
            egress::serve(listener, rules)
        });
        let broker = self.grant.clone().zip(desk).map(|(grant, listener)| {
            let (context, folder, timeout) = (self.context.clone(), self.folder.clone(), self.timeout);
            let tools = self.tools.clone();
            broker::serve(listener, grant, move |call, sink| match &tools {
                Some(tools) if call.argv.first().is_some_and(|name| name == WEIR) => tools.call(call, sink),
                _ => run_outside(&context, &folder, timeout, call, sink),
            })
        });
        Box::new((egress, broker))
    }
}

/// Returns a grant for the single command that is the entire code, if it is brokered and not always forbidden.
fn grant(order: &RunRequest, programs: &[String]) -> Result<Option<Grant>, CommandError> {
    if programs.is_empty() || order.language.name != "shell" {
        return Ok(None);
    }
    let Some(argv) =
        simple_literal(&order.code).filter(|argv| argv.first().is_some_and(|name| programs.contains(name)))
    else {
        return Ok(None);
    };
    let argv: Vec<OsString> = argv.into_iter().map(OsString::from).collect();
    broker::check(&argv[0].to_string_lossy(), &argv[1..]).map_err(|refusal| {
        CommandError::new(ErrorKind::Denied, format!("nothing was run: {refusal}"))
            .hint("ask the user to run it; Weir never runs it with credentials")
    })?;
    let token = Token::random().map_err(|error| CommandError::broken(&format!("cannot get random bytes: {error}")))?;
    Ok(Some(Grant { token, argv, uses: MAX_USES, more: 0 }))
}

/// Returns a grant to call tools of other MCP servers.
fn grant_of_tools() -> Result<Grant, CommandError> {
    let token = Token::random().map_err(|error| CommandError::broken(&format!("cannot get random bytes: {error}")))?;
    Ok(Grant { token, argv: vec![WEIR.into(), CALL.into()], uses: MAX_TOOL_CALLS, more: 3 })
}

/// Calls tools for one run.
#[derive(Clone)]
struct BoundedCaller {
    caller: ToolCaller,
    /// How many bytes the run may still get.
    left: Arc<AtomicU64>,
}

impl BoundedCaller {
    fn new(caller: ToolCaller) -> Self {
        Self { caller, left: Arc::new(AtomicU64::new(MAX_TOOL_BYTES)) }
    }

    fn call(&self, call: &Call<'_>, sink: &mut broker::Sink<'_>) -> io::Result<i32> {
        let word = |at: usize| call.argv.get(at).map(|word| word.to_string_lossy().into_owned()).unwrap_or_default();
        let words = ToolCallWords { server: word(2), tool: word(3), arguments: word(4) };
        let (stream, text, code) = match (self.caller)(words) {
            Ok(text) => (Stream::Out, text, 0),
            Err(error) => (Stream::Err, format!("{error}\n"), 1),
        };
        let bytes = text.len() as u64;
        let taken = self.left.fetch_update(Ordering::AcqRel, Ordering::Acquire, |left| left.checked_sub(bytes));
        if taken.is_err() {
            return Err(io::Error::other("this run has got as much from tools as it may"));
        }
        sink(stream, text.as_bytes())?;
        Ok(code)
    }
}

/// Runs the real program outside the sandbox with the user's credentials, as the user would.
fn run_outside(
    context: &Context,
    folder: &Path,
    timeout: Duration,
    call: &Call<'_>,
    sink: &mut broker::Sink<'_>,
) -> io::Result<i32> {
    let name = call.argv.first().and_then(|name| name.to_str()).unwrap_or_default();
    let path = path_outside(context);
    let found = std::env::split_paths(&path).map(|folder| folder.join(name)).find(|path| path.is_file());
    let program = found.and_then(|path| of_user(context).find(&path).ok());
    let program = program.ok_or_else(|| io::Error::other(format!("{name} is not installed outside the project")))?;
    let wanted = VARIABLES.iter().find(|(known, _)| *known == name).map_or(&[] as &[_], |(_, names)| names);
    // No variable that could make a program load code from the project.
    let plain = |name: &OsStr| PLAIN.iter().any(|plain| name == *plain) || name.as_encoded_bytes().starts_with(b"LC_");
    let mut environment: Vec<_> = context.env().for_runs().filter(|(name, _)| plain(name)).cloned().collect();
    environment.push(("PATH".into(), path));
    environment.extend(context.env().beginning_with(wanted));
    if environment.iter().any(|(name, _)| name == "GH_HOST") {
        // Without a server chosen by the user, these tokens would be sent to whichever server a checkout names.
        environment.extend(context.env().beginning_with(&["GH_ENTERPRISE_TOKEN", "GITHUB_ENTERPRISE_TOKEN"]));
    }
    environment.retain(|(name, value)| broker::may_have(&name.to_string_lossy(), &value.to_string_lossy()));
    let argv = [program.as_path().into()].into_iter().chain(call.argv[1..].iter().cloned()).collect();
    let spec = Spec { network: Network::Host, environment, ..Spec::new(Level::None, argv, folder) };
    let run = Run {
        spec: &spec,
        helper: weir_host::os::helper(),
        timeout,
        most_output: context.config().run.output_bytes,
        streams: Streams::Apart,
        input: None,
        stopper: call.stopper,
        ready: None,
        serve: None,
    };
    let (outcome, _) =
        weir_runner::run(run, &mut |stream: Stream, bytes: &[u8]| sink(stream, bytes)).map_err(io::Error::other)?;
    match outcome.ended {
        Ended::Exited => Ok(outcome.exit_code.unwrap_or(1)),
        ended => Err(io::Error::other(format!("{name} was stopped: {ended}"))),
    }
}

/// Finds paths outside the folders in which runs can create files: the configured ones, and always the project.
fn of_user(context: &Context) -> UserPaths {
    let mut writable = super::environment::writable(context);
    writable.push(context.project().root.clone());
    UserPaths::new(writable, weir_host::os::trusted_owners(context.env().home.as_deref()))
}

/// Returns the folders of `PATH` in which no run can create a program.
fn path_outside(context: &Context) -> OsString {
    let mut of_user = of_user(context);
    let path = search_path(context);
    let folders = std::env::split_paths(&path).filter(|folder| folder.is_absolute() && of_user.find(folder).is_ok());
    std::env::join_paths(folders).unwrap_or_default()
}

/// Acts as a brokered program inside the sandbox: has the broker run the real one, and passes on its output.
pub fn stand_in(argv: &[OsString]) -> ExitCode {
    let Some(token) = weir_host::env::broker_token() else {
        eprintln(argv, "not allowed: the whole code must be this one command, without variables or redirection");
        return ExitCode::from(126);
    };
    let broker = (Ipv4Addr::LOCALHOST, BROKER_PORT).into();
    match broker::call(broker, &token, argv, &mut io::stdout().lock(), &mut io::stderr().lock()) {
        Ok(code) => ExitCode::from(code as u8),
        Err(error) => {
            eprintln(argv, &format!("cannot reach the broker: {error}"));
            ExitCode::from(126)
        }
    }
}

fn eprintln(argv: &[OsString], what: &str) {
    let name = argv.first().map(|name| name.display().to_string()).unwrap_or_default();
    let _ = writeln!(io::stderr(), "{name}: {what}");
}

fn unusable(context: &Context, what: &str) -> CommandError {
    CommandError::new(ErrorKind::Config, format!("cannot use {}: {what}", context.paths().config.display()))
        .hint("docs/configuration.md lists every setting")
}
