//! `weir ui`: pages to look at, in a browser on this machine.
//!
//! The crate lets one browser in (`entrance`), turns addresses into pages and forms (`route`), and fills the view
//! models of `weir-pages` from stores and from the clients' transcripts, one file per page. A form becomes an operation
//! and ends with a redirect (`forms`).
//!
//! It writes no HTML (`weir-pages`) and opens no socket (`weir-http`). Each project has contexts of its own (`known`).
//! What hooks do not see, such as requests, prices and the length of the window, comes from transcripts: a thread reads
//! the newest of them, and again each one that changes (`transcripts`). The checks of `weir doctor` read a whole store,
//! so they run in the background too (`checks`); until they finish, a page says so and checks again.
//!
//! # Invariants
//!
//! - Nobody gets in without the link, which works once. The pages are served on a loopback address only.
//! - A page only reads. Looking through a project makes no store, and does not count as a use of the project or of a
//!   note.
//! - A form counts only with the cookie, with the token that is made from it, and from the pages' own origin. It
//!   changes something through an operation. Sent twice, it does its work once.
//! - A figure is right or absent: what was not measured has no value.
//! - What a page costs depends on what it shows, not on the size of the store. Lists have limits and continue after a
//!   place (`Store::sessions_page`), and nothing is counted that has no limit. The checks and the texts kept by day are
//!   the exceptions, and run in the background.
//! - A store that cannot be read closes only the pages of its project. Those over all projects leave it out and say so.

mod account;
mod answer;
mod checks;
mod clock;
mod entrance;
mod entry;
mod events;
mod fields;
mod forms;
mod health;
mod held;
mod known;
mod notes;
mod opener;
mod pauses;
mod prefix;
mod projects;
mod route;
mod rows;
mod search;
mod session;
mod sessions;
mod settings;
mod today;
mod transcripts;
mod view;
mod window;

use std::net::{IpAddr, SocketAddr};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::extract::{Request, State};
use axum::http::header::SET_COOKIE;
use axum::http::request::Parts;
use axum::http::uri::PathAndQuery;
use axum::http::{Method, StatusCode};
use axum::response::{IntoResponse as _, Response};
use clap::{Arg, ArgAction, ArgMatches, Command, value_parser};
use weir_context::Context;
use weir_host::error::{CommandError, ErrorKind};
use weir_host::paint;
use weir_host::project::Project;
use weir_http::guard::{AllowedHosts, guarded};
use weir_http::listen::{Listening, ServerLimits};
use weir_http::request_limits::whole_body;
use weir_pages::message::Message;
use weir_pages::{Page, Shell, Text};

use checks::Checks;
use clock::Clock;
use entrance::Entrance;
use known::KnownProjects;
use route::{Destination, Place};
use transcripts::Transcripts;
use view::{Asked, View};

const MAX_FORM_BYTES: usize = 1 << 20;
/// The largest body that is read, in bytes. A longer one is refused before a page could say so.
const MAX_BODY_BYTES: usize = 8 << 20;
/// How long a page may take.
const PAGE_TIMEOUT: Duration = Duration::from_secs(60);

const LONG_ABOUT: &str = "\
See in a browser what Weir stores and does: what happened today and what it cost in tokens and money, sessions, \
search, notes, what each window size costs, what every request repeats, projects, health and settings.

The pages are served on this machine only, and nothing is sent anywhere. The command prints a link that works once, in \
one browser; the pages stay open there until the command ends.";

const AFTER_HELP: &str = "\
Examples:
  weir ui                            print a link to the pages of this project
  weir ui --open                     open it in your browser as well
  weir ui --project ~/src/app        start with another project
  weir ui --bind 127.0.0.1:4848      always use the same port

Ctrl-C ends it. To look at the pages of another machine, forward the port, then open the link here:
  ssh -L 4848:127.0.0.1:4848 that-machine weir ui --bind 127.0.0.1:4848";

struct Ui {
    context: Context,
    entrance: Entrance,
    projects: KnownProjects,
    transcripts: Arc<Transcripts>,
    checks: Arc<Checks>,
}

pub fn command() -> Command {
    let bind = Arg::new("bind")
        .long("bind")
        .value_name("ADDRESS")
        .value_parser(value_parser!(SocketAddr))
        .default_value("127.0.0.1:0")
        .help("Listen on this loopback address; port 0 lets the system choose a port");
    let open = Arg::new("open").long("open").action(ArgAction::SetTrue).help("Open the link in your browser");
    let project = Arg::new("project")
        .long("project")
        .value_name("FOLDER")
        .value_parser(value_parser!(PathBuf))
        .help("Start with the project of this folder [default: that of the current folder, if it has a store]");
    Command::new("ui")
        .about("Look at sessions, notes, savings and health in a browser")
        .long_about(LONG_ABOUT)
        .after_long_help(AFTER_HELP)
        .args([bind, open, project])
}

/// Serves the pages until a signal ends it.
pub async fn run(context: &Context, arguments: &ArgMatches) -> Result<(), CommandError> {
    let address = arguments.get_one::<SocketAddr>("bind").copied();
    let address = address.unwrap_or_else(|| SocketAddr::new(IpAddr::from([127, 0, 0, 1]), 0));
    if !address.ip().is_loopback() {
        return Err(CommandError::usage(format!("cannot listen on {address}: the pages are for this machine only"))
            .hint(
                "use 127.0.0.1, and forward the port with ssh if you are elsewhere: `weir ui --help` has an example",
            ));
    }
    let start = start(context, arguments)?;
    let listening = Listening::bind(address).await?;
    let address = listening.address();
    let ui = Arc::new(Ui {
        context: context.clone(),
        entrance: Entrance::new(address.to_string())?,
        projects: KnownProjects::new(context),
        transcripts: Transcripts::new(context),
        checks: Checks::new(),
    });
    // Most pages show something of the transcripts, so they are read right away.
    ui.transcripts.facts();
    let link = ui.entrance.link();
    let opener = arguments.get_flag("open").then(|| opener::open(&context.paths().data, &link)).transpose()?;
    paint::warn(&format!("weir: open this link, which works once:\n\n  {link}\n\nweir: Ctrl-C ends it"));
    let limits = ServerLimits {
        max_body_bytes: MAX_BODY_BYTES,
        request_timeout: Some(PAGE_TIMEOUT),
        max_connections: 64,
        ..ServerLimits::default()
    };
    let router = Router::new().fallback(handle).with_state(Pages { ui, start });
    let hosts = AllowedHosts::loopback(address.port()).and_address(address);
    let served = listening.serve(guarded(router, hosts), limits).await;
    drop(opener);
    served
}

/// Returns the project that the link leads to, by the name of its store's folder.
fn start(context: &Context, arguments: &ArgMatches) -> Result<Option<Text>, CommandError> {
    let has_store = |project: &Project| context.project_stores().join(project.folder_name()).join("log.db").exists();
    let Some(folder) = arguments.get_one::<PathBuf>("project") else {
        let own = context.project();
        return Ok(has_store(own).then(|| own.folder_name().into()));
    };
    let folder = context.env().folder.join(folder);
    let cannot = |why: String| CommandError::new(ErrorKind::NotFound, format!("cannot open the project {why}"));
    let project = Project::locate(&folder, &context.paths().data)
        .map_err(|error| cannot(format!("{}: {error}", folder.display())).hint("name the folder of a project"))?;
    if !has_store(&project) {
        return Err(cannot(format!("{}: the project has no store yet", folder.display()))
            .hint("leave out --project to see all projects; `weir setup` connects your clients"));
    }
    Ok(Some(project.folder_name().into()))
}

/// The pages, and where the link leads.
#[derive(Clone)]
struct Pages {
    ui: Arc<Ui>,
    start: Option<Text>,
}

async fn handle(State(pages): State<Pages>, request: Request) -> Response {
    let (parts, body) = request.into_parts();
    let path = parts.uri.path();
    if let Some(asset) = answer::asset(path) {
        return asset;
    }
    if Entrance::is_link(path) {
        return pages.enter(&parts);
    }
    if !pages.ui.entrance.knows(&parts.headers) {
        return answer::refused();
    }
    match parts.method {
        Method::GET | Method::HEAD => pages.ui.page(&parts).await,
        Method::POST => match whole_body(body).await {
            Ok(form) if form.len() > MAX_FORM_BYTES => pages.ui.failed(&parts, &too_long()).await,
            Ok(form) => pages.ui.form(&parts, &form).await,
            Err(problem) => problem.into_response(),
        },
        _ => pages.ui.failed(&parts, &CommandError::usage("pages are read, and forms are sent with POST")).await,
    }
}

impl Pages {
    /// Lets a browser in that has the link, and goes on to the pages.
    ///
    /// Going on is left to the page: a redirect would still count as coming from wherever the link was, and the browser
    /// would not send the cookie with it.
    fn enter(&self, parts: &Parts) -> Response {
        let cookie = (parts.method == Method::GET).then(|| self.ui.entrance.enter(parts.uri.path())).flatten();
        let today = Shell::in_project(Page::Today, self.start.as_ref());
        let Some(cookie) = cookie else {
            // The browser that opened the link may come back to it.
            let is_in = parts.method == Method::GET && self.ui.entrance.knows(&parts.headers);
            return if is_in { answer::redirect(&today) } else { answer::used_link() };
        };
        let message = Message {
            title: "The pages are open".into(),
            meaning: "This browser can see them until the command ends. The link does not work any more.".into(),
            command: None,
        };
        let welcome = answer::page(StatusCode::OK, message.render_welcome(self.start.as_ref()));
        let welcome = answer::with_header(welcome, SET_COOKIE, &cookie);
        answer::going_on(welcome, 0, &today)
    }
}

impl Ui {
    async fn page(&self, parts: &Parts) -> Response {
        let answered = match Place::of_page(parts.uri.path()) {
            Some(place) => self.answer(&place, asked(&place, parts)).await,
            None => Err(no_page()),
        };
        match answered {
            Ok(response) => response,
            Err(error) => self.failed(parts, &error).await,
        }
    }

    async fn answer(&self, place: &Place, asked: Asked<'_>) -> Result<Response, CommandError> {
        let view = View::new(self, asked).await?;
        let html = match &place.at {
            Destination::Page(Page::Today) => today::page(&view).await,
            Destination::Page(Page::Sessions) => sessions::page(&view).await,
            Destination::Page(Page::Search) => return search::page(&view).await,
            Destination::Page(Page::Notes) => notes::page(view).await,
            Destination::Page(Page::Window) => return window::page(&view).await,
            Destination::Page(Page::Pauses) => return pauses::page(&view).await,
            Destination::Page(Page::Prefix) => return prefix::page(&view).await,
            Destination::Page(Page::Projects) => projects::page(&view).await,
            Destination::Page(Page::Health) => return health::page(&view).await,
            Destination::Page(Page::Settings) => settings::page(&view),
            Destination::Session(key) => return session::page(&view, key).await,
            Destination::Entry(reference) => return entry::page(&view, reference).await,
            Destination::Raw(reference) => return entry::raw(&view, reference).await,
            Destination::Theme | Destination::Keys | Destination::NewNote | Destination::Act(..) => Err(no_page()),
        };
        html.map(|html| answer::page(StatusCode::OK, html))
    }

    async fn form(&self, parts: &Parts, form: &[u8]) -> Response {
        let answered = match Place::of_form(parts.uri.path()) {
            Some(place) => forms::answer(self, &place, parts, form).await,
            None => Err(no_page()),
        };
        match answered {
            Ok(response) => response,
            Err(error) => self.failed(parts, &error).await,
        }
    }

    async fn failed(&self, parts: &Parts, error: &CommandError) -> Response {
        let (status, message) = answer::explain(error);
        answer::page(status, message.render(&self.frame_of(parts).await))
    }

    /// Returns the frame of the page at an address that has no page, or cannot show it: with the same project, if there
    /// is one, and with the others.
    async fn frame_of(&self, parts: &Parts) -> Shell {
        let project = Place::project_of(parts.uri.path());
        // A page cannot return to the address of a form.
        let back = if parts.method == Method::POST { "/" } else { full_path(parts) };
        let asked = |project| Asked { project, query: "", path: back, headers: &parts.headers };
        for project in [project.as_deref(), None] {
            if let Ok(view) = View::new(self, asked(project)).await {
                return view.shell;
            }
        }
        view::frame(self, &asked(None), &Clock::read())
    }
}

fn asked<'a>(place: &'a Place, parts: &'a Parts) -> Asked<'a> {
    Asked {
        project: place.project.as_deref(),
        query: parts.uri.query().unwrap_or_default(),
        path: full_path(parts),
        headers: &parts.headers,
    }
}

fn full_path(parts: &Parts) -> &str {
    parts.uri.path_and_query().map_or("/", PathAndQuery::as_str)
}

fn too_long() -> CommandError {
    CommandError::usage("the form is longer than 1 MiB, and nothing was changed")
        .hint("go back, and shorten the text; `weir note -` reads a long note from standard input")
}

fn no_page() -> CommandError {
    CommandError::new(ErrorKind::NotFound, "there is no page at this address").hint("choose one in the menu")
}
