//! `weir proxy`: passes requests on to a model's API, and holds back the results of tools in them, for clients that
//! have no hooks.
//!
//! The crate finds results in the bodies of requests (`wire`, one file per API), decides about each once (`results`,
//! `rulings`), and streams everything else through (`forward`, `upstream`). A result is new if it comes after the
//! model's last turn; only then is it judged. The decision is recorded under a key made from the call and the text, and
//! every later request uses it, even after a restart. The replacement is spliced into the body as a JSON string.
//!
//! The rules are those of hooks (`weir_hook::RequestedResult`), and which tools clients have is in `weir-clients`
//! (`requests`). `weir-http` listens.
//!
//! # Invariants
//!
//! - Where nothing is held back, a request passes byte for byte, and so does every answer. A body that is not as its
//!   format says is passed on as it is.
//! - What two requests of a client have in common at the beginning, they have in common after the proxy, so the
//!   provider's cache stays valid. A replacement never changes.
//! - A result that was sent is replaced in one case only: the user wants it, the provider's cache has expired, and the
//!   result is older than the newest. What replaces it never changes either.
//! - The full text is stored and the ruling recorded before the request goes out. If either fails, the result passes as
//!   it is. While requests have a replacement, the stored text does not expire.
//! - Nothing is held back that the model could not read: the request offers `ctx_get` or a shell.
//! - No header is stored or logged, and no file that a request names is opened.
//! - Nothing runs unless the user starts it, and it listens on this machine only.
//!
//! # A request, step by step
//!
//! ```text
//! weir_http guard  Host and Origin
//! forward          reads a body if its path has a wire format; anything else streams through
//! wire             where the results of tools are: parts of the body, nothing is copied
//! results          a new result is judged once; the others have a ruling, or were sent in full
//! clearing         after a pause, old results become references if the user wants it
//! rulings          what was decided, sealed, one file per result
//! upstream         the request goes on, and the answer streams back
//! ```

mod clearing;
mod forward;
mod last_clearing;
mod results;
mod rulings;
mod tally;
mod upstream;
mod wire;

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use clap::{Arg, ArgAction, ArgMatches, Command, value_parser};
use weir_context::Context;
use weir_host::answer::Answer;
use weir_host::error::{CommandError, ErrorKind};
use weir_host::paint;
use weir_http::guard::{AllowedHosts, for_programs, guarded};
use weir_http::listen::{Listening, ServerLimits};

use self::forward::Proxy;
pub use self::last_clearing::LastClearing;
use self::results::Holder;
use self::tally::Counter;
use self::upstream::Upstream;

pub const PROXY: &str = "proxy";

/// The address that the proxy listens on by default.
const DEFAULT_BIND: &str = "127.0.0.1:4748";
/// The largest body of a request that is looked into. APIs accept no larger ones.
const MAX_BODY_BYTES: usize = 32 << 20;
/// How long a client may keep a connection without a request.
const IDLE_TIMEOUT: Duration = Duration::from_secs(120);
const MAX_CONNECTIONS: usize = 256;

const LONG_ABOUT: &str = "\
Pass requests on to a model's API, and hold back long tool results in them, for clients that have no hooks.

The proxy listens on this machine only, and only while this command runs. Point a client at it instead of at the API. \
It knows Anthropic's Messages API and OpenAI's Chat Completions and Responses APIs by the path of a request; \
everything else passes through unchanged.

A tool result that `weir setup` would hold back is stored in full in this project's store, and the model gets a digest \
with a reference. That is decided when the result first appears, and stays the same in all later requests, so the \
provider's prompt cache stays valid. Your API key passes through, and is neither stored nor logged.";

const EXAMPLES: &str = "\
Examples:
  weir proxy --upstream https://api.anthropic.com
  weir proxy --upstream https://api.openai.com --bind 127.0.0.1:4800

Start it in the project's folder, then start the client there in another terminal.

Claude Code:
  ANTHROPIC_BASE_URL=http://127.0.0.1:4748 claude

Codex, in ~/.codex/config.toml:
  model_provider = \"weir\"
  [model_providers.weir]
  name = \"OpenAI through Weir\"
  base_url = \"http://127.0.0.1:4748/v1\"
  env_key = \"OPENAI_API_KEY\"
  wire_api = \"responses\"

Any other client: set its base URL to http://127.0.0.1:4748, with /v1 at the end if the API's own URL has it.

Do not use it together with the hooks of `weir setup`: they hold back the same results, and one of the two is enough.
Ctrl-C ends the proxy and says what it did; `weir stats --client proxy` adds it up over all runs.";

/// Returns the command, for its help.
pub fn command() -> Command {
    let upstream = Arg::new("upstream")
        .long("upstream")
        .value_name("URL")
        .required(true)
        .help("Pass requests on to this API, such as https://api.anthropic.com");
    let bind = Arg::new("bind")
        .long("bind")
        .value_name("ADDRESS")
        .default_value(DEFAULT_BIND)
        .value_parser(value_parser!(SocketAddr))
        .help("Listen on this loopback address; port 0 lets the system choose a port");
    let insecure = Arg::new("insecure")
        .long("insecure")
        .action(ArgAction::SetTrue)
        .help("Accept an http:// upstream on another machine");
    Command::new(PROXY)
        .about("Hold back tool results in requests to a model's API, for clients without hooks")
        .long_about(LONG_ABOUT)
        .after_long_help(EXAMPLES)
        .args([upstream, bind, insecure])
}

/// Runs the proxy until a signal arrives. Returns what it did.
pub async fn run(context: &Context, arguments: &ArgMatches) -> Result<Answer, CommandError> {
    let url = arguments.get_one::<String>("upstream").map(String::as_str).unwrap_or_default();
    let upstream = Upstream::at(url, arguments.get_flag("insecure"))?;
    let listening = Listening::bind(bind_address(arguments)?).await?;
    let address = listening.address();
    if upstream.is_itself(address) {
        return Err(CommandError::usage(format!("cannot pass requests on to {upstream}: that is this proxy"))
            .hint("name the address of the model's API, or choose another port with --bind"));
    }
    let counter = Arc::new(Counter::default());
    let holder = Holder::new(context, Arc::clone(&counter)).map_err(|error| {
        let folder = context.project_folder();
        CommandError::new(ErrorKind::Store, format!("cannot use {}: {error}", folder.display()))
            .hint("make the folder writable, or set WEIR_DATA to a folder that is")
    })?;
    announce(context, address, &upstream);
    if let Some(off) = holder.off() {
        paint::warn(&format!("weir: nothing new is held back: Weir is {}; {}", off.place(), off.remedy()));
    }
    let proxy = Arc::new(Proxy { upstream, holder: Arc::new(holder), counter: Arc::clone(&counter) });
    let hosts = AllowedHosts::loopback(address.port()).and_address(address);
    let limits = ServerLimits {
        // Larger bodies stream through.
        max_body_bytes: usize::MAX,
        header_timeout: IDLE_TIMEOUT,
        // A model may think for as long as it wants.
        request_timeout: None,
        max_connections: MAX_CONNECTIONS,
        max_per_address: MAX_CONNECTIONS,
    };
    listening.serve(guarded(for_programs(forward::routes(proxy)), hosts), limits).await?;
    counter.now().answer()
}

fn bind_address(arguments: &ArgMatches) -> Result<SocketAddr, CommandError> {
    let address = arguments.get_one::<SocketAddr>("bind").copied();
    let address = address.ok_or_else(|| CommandError::usage("there is no address to listen on"))?;
    if !address.ip().is_loopback() {
        return Err(CommandError::usage(format!("cannot listen on {address}: the proxy is for this machine only"))
            .hint("use a loopback address, such as 127.0.0.1:4748"));
    }
    Ok(address)
}

/// Tells a person where the proxy listens, and what it does not do.
fn announce(context: &Context, address: SocketAddr, upstream: &Upstream) {
    paint::warn(&format!("weir: listening on http://{address}"));
    let project = context.project().root.display();
    paint::warn(&format!("weir: passing requests on to {upstream}; held results go to the store of {project}"));
    if context.env().proxies().https.is_some() {
        paint::warn("weir: HTTPS_PROXY is not supported here; the connection to the API is direct");
    }
}
