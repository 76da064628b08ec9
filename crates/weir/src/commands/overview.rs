//! `weir` without arguments: how things stand, and the one next step. Invariants: it is never an error, and it makes no
//! store.

use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use weir_context::Context;
use weir_core::Timestamp;
use weir_core::time::DAY;
use weir_host::answer::{Answer, counted, one_line, size};
use weir_host::env::Env;
use weir_host::error::CommandError;
use weir_host::face::Face;
use weir_host::switch::{OFF_MEANS, Off, Switch};
use weir_host::when;
use weir_operations::stats::account::Account;
use weir_session::sessions;
use weir_setup::health::{self, ClientsOverview};
use weir_store::{SessionSummary, StoreOverview};

/// Returns how things stand in the folder of the call.
pub(crate) fn answer(env: &Env) -> Answer {
    let version = env!("CARGO_PKG_VERSION");
    let context = match Context::new(env, Face::Terminal) {
        Ok(context) => context,
        Err(error) => {
            let hint = error.hints.first().map(|hint| format!("\nnext: {hint}")).unwrap_or_default();
            let text = format!("weir {version}\n\n✗ {}{hint}", error.message);
            return Answer::new(text, json!({ "version": version, "problem": error.message }));
        }
    };
    let clients = health::overview(&context);
    let store = StoreState::read(&context);
    let off = Switch::read(context.paths()).all_off(context.project(), &env.folder);
    let next = off.first().map_or_else(|| next_step(&clients, &store, &context.project().root), Off::remedy);
    let mut lines: Vec<String> = off.iter().map(|off| format!("Weir is {}: {OFF_MEANS}", off.place())).collect();
    lines.extend([format!("weir {version} in {}", short(env, &context.project().root)), String::new()]);
    lines.push(format!("clients  {}", clients_line(&clients)));
    lines.extend(store.lines(env));
    lines.push(String::new());
    lines.push(format!("next: {next}"));
    let data = json!({
        "version": version,
        "project": context.project().root.display().to_string(),
        "off": off.iter().map(Off::place).collect::<Vec<_>>(),
        "set_up": clients.set_up,
        "not_set_up": clients.waiting,
        "wrong": clients.wrong.iter().map(|one| one.title).collect::<Vec<_>>(),
        "store": store.data(),
        "next": next,
    });
    Answer::new(lines.join("\n"), data)
}

/// What the store of the project has to say.
enum StoreState {
    /// There is none yet.
    Absent,
    Unusable(CommandError),
    Read(Box<Facts>),
}

struct Facts {
    overview: StoreOverview,
    folder: PathBuf,
    today: Account,
    last: Option<SessionSummary>,
}

impl StoreState {
    fn read(context: &Context) -> Self {
        let folder = context.project_folder();
        if !folder.join("log.db").exists() {
            return Self::Absent;
        }
        let facts = context.with_stores_here(|open| {
            let today = Timestamp(open.now.0.div_euclid(DAY) * DAY);
            let store = open.project()?;
            Ok(Facts {
                today: Account::of(&store.metered(Some(today))?),
                last: store.sessions(None, 1)?.into_iter().next(),
                overview: store.overview()?,
                folder,
            })
        });
        facts.map_or_else(Self::Unusable, |facts| Self::Read(Box::new(facts)))
    }

    fn lines(&self, env: &Env) -> Vec<String> {
        match self {
            Self::Absent => vec!["store    none yet for this folder".to_owned()],
            Self::Unusable(error) => vec![format!("✗ store: {}", error.message)],
            Self::Read(facts) => facts.lines(env),
        }
    }

    fn data(&self) -> Value {
        match self {
            Self::Absent => Value::Null,
            Self::Unusable(error) => json!({ "problem": error.message }),
            Self::Read(facts) => json!({
                "folder": facts.folder.display().to_string(),
                "entries": facts.overview.entries,
                "sessions": facts.overview.sessions,
                "bytes": facts.overview.bytes,
                "today": facts.today,
                "last_session": facts.last.as_ref().map(sessions::line),
            }),
        }
    }
}

impl Facts {
    fn lines(&self, env: &Env) -> Vec<String> {
        let today = match self.today.in_short() {
            None => "nothing held back".to_owned(),
            Some(outputs) => format!("{outputs}, {} held back", counted(self.today.held as usize, "output", "outputs")),
        };
        let last = match &self.last {
            Some(session) => format!("{} {}", when::show(session.to), sessions::heading(session)),
            None => "no session yet".to_owned(),
        };
        let entries = usize::try_from(self.overview.entries).unwrap_or(usize::MAX);
        vec![
            format!("today    {today} (since 00:00 UTC)"),
            format!("last     {last}"),
            format!(
                "store    {}, {} in {}",
                counted(entries, "entry", "entries"),
                size(self.overview.bytes),
                short(env, &self.folder)
            ),
        ]
    }
}

/// Returns a path as a person writes it, on one line.
pub(super) fn short(env: &Env, path: &Path) -> String {
    let shown = match env.home.as_deref().and_then(|home| path.strip_prefix(home).ok()) {
        Some(rest) => format!("~/{}", rest.display()),
        None => path.display().to_string(),
    };
    one_line(&shown, usize::MAX)
}

fn clients_line(clients: &ClientsOverview) -> String {
    let mut parts = Vec::new();
    if !clients.set_up.is_empty() {
        parts.push(format!("{} set up", clients.set_up.join(", ")));
    }
    if !clients.wrong.is_empty() {
        parts.extend(clients.wrong.iter().map(|one| format!("{} {}", one.title, one.brief)));
    }
    if !clients.waiting.is_empty() {
        parts.push(format!("{} installed, not set up", clients.waiting.join(", ")));
    }
    if parts.is_empty() { "none found".to_owned() } else { parts.join("; ") }
}

/// Returns the one thing to do next.
fn next_step(clients: &ClientsOverview, store: &StoreState, root: &Path) -> String {
    if let StoreState::Unusable(error) = store {
        return error.hints.first().cloned().unwrap_or_else(|| "weir doctor".to_owned());
    }
    if let Some(fix) = clients.wrong.first().and_then(|wrong| wrong.fix.clone()) {
        return fix;
    }
    let has_sessions = matches!(store, StoreState::Read(facts) if facts.overview.sessions != Some(0));
    let next = match (clients.set_up.is_empty(), clients.waiting.is_empty()) {
        (true, false) => "weir setup   (says what it changes, then asks; `weir replay` shows what it would save)",
        (true, true) => {
            let command = test_command(root);
            return format!(
                "weir run '{command}'   (runs a command; `weir setup claude` connects a client that was not found)"
            );
        }
        (false, _) if has_sessions => "weir stats   (what was saved; `weir ui` shows all of it in a browser)",
        (false, _) => "start a session in your client here, then run `weir` again",
    };
    next.to_owned()
}

fn test_command(root: &Path) -> &'static str {
    const COMMANDS: [(&str, &str); 6] = [
        ("Cargo.toml", "cargo test"),
        ("go.mod", "go test ./..."),
        ("package.json", "npm test"),
        ("pyproject.toml", "pytest"),
        ("setup.py", "pytest"),
        ("Makefile", "make test"),
    ];
    let known = COMMANDS.iter().find(|(file, _)| root.join(file).exists());
    known.map_or("git status", |(_, command)| command)
}
