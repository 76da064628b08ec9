//! The changes to each client's settings that make it call Weir: which files, and which entries in them are ours.
//!
//! A [`Recipe`] is constant data. [`Part::add`] and [`Part::remove`] are functions of a file's text alone: everything
//! that others wrote stays as it is, and adding is idempotent. Each client's recipe is with the client, in `clients`.

mod behind;
#[cfg(test)]
mod behind_tests;
mod cache;
mod form;
mod hooks;
mod json;
mod moved;
mod moved_table;
mod ours;
mod rules;
pub(crate) mod server;
mod setting;
mod table;
#[cfg(test)]
mod tests;
mod window;

use serde_json::Value;

use crate::Client;
use crate::format::Format;
pub use behind::{movable, starts_us};
pub use cache::{CacheSettings, NewestRequest};
pub(crate) use form::ToolRule;
pub use form::{FoundServer, ServerForm, ServerLaunch};
pub use moved::TakenServer;
pub use ours::ON_WINDOWS;
pub use rules::ToolRules;
pub use setting::Setting;
pub use window::{Scale, Window};

pub struct Recipe {
    /// The client that decodes its hooks, if Weir answers them.
    pub client: Option<&'static Client>,
    /// The name used in commands.
    pub name: &'static str,
    /// The name shown to people.
    pub title: &'static str,
    /// The names of its programs, looked up on the PATH to detect it.
    pub programs: &'static [&'static str],
    /// Folders that exist if it is installed.
    pub traces: &'static [Place],
    /// Variables that it sets for what it starts: those that are documented, and those seen in the real client.
    pub variables: &'static [&'static str],
    /// The variable in which it names its session to the servers that it starts.
    pub session_variable: Option<&'static str>,
    /// The format of its transcripts, if Weir reads them.
    pub(crate) transcript: Option<&'static Format>,
    /// The names of files with rules for the model that only this client reads. One that ends with a slash is a folder
    /// of them.
    pub rules: &'static [&'static str],
    /// The parts to write, for the user and for a project.
    pub parts: &'static [Part],
    /// How it writes MCP servers.
    pub servers: ServerForm,
    /// What is left for the user to do afterwards, if anything.
    pub then: Option<&'static str>,
    /// How to detect that the user has installed our plugin instead.
    pub plugin: Option<Packed>,
    /// How to detect untrusted hooks, for a client that runs only hooks that the user trusts.
    pub trust: Option<Trust>,
    /// When it compacts by itself, where that is known.
    pub window: Option<Window>,
    /// How long the cache of its conversations lives, if it can be set.
    pub cache: Option<CacheSettings>,
    /// The setting for the command whose output it shows below its prompt, if it has such a line.
    pub status_line: Option<Setting>,
    /// What keeps it from deferring the descriptions of tools, if it can be told.
    pub deferral: Option<&'static Deferral>,
    /// What its hooks do not see although it is set up, for `weir doctor`.
    pub blind_spot: Option<&'static str>,
    /// How well the format is known.
    pub basis: Basis,
}

/// The values of variables, by name.
pub type Variables<'a> = &'a dyn Fn(&str) -> Option<String>;

/// What keeps a client from deferring the descriptions of tools.
pub struct Deferral {
    /// The settings for variables of the client, the one that counts first. After them comes the environment.
    pub variables: &'static [Setting],
    /// Returns the variable that keeps a client of this version from it, given the values of variables.
    pub prevented_by: fn(Variables<'_>, Option<&str>) -> Option<&'static str>,
    /// About how many tokens of its own tools each request has then in addition, as observed with the version that
    /// `defers_tools` names.
    pub own_tokens: u64,
    /// What to do if only an old version is prevented from it.
    pub for_old: &'static str,
}

/// How to detect an installed plugin.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Packed {
    /// By a folder.
    Folder(Place),
    /// By a key `weir@…` in this object of a file.
    Key(Place, &'static str),
}

/// Returns whether a client's settings, in JSON or TOML, list our plugin in this object.
pub fn has_plugin(settings: &str, object: &str) -> bool {
    json::keys(settings, object).chain(table::keys(settings, object)).any(|key| key.starts_with("weir@"))
}

/// How to detect which hooks are trusted.
pub struct Trust {
    /// The file that lists trusted hooks.
    pub place: Place,
    /// Returns our events that are not trusted, given the text of that file and the path of the hooks file.
    pub lacking: fn(&str, &str) -> Vec<&'static str>,
}

/// How well a format is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Basis {
    /// The real client has read what we write.
    Seen,
    /// Taken from its documentation, not tested with the client.
    Documented,
}

/// Whom a client is set up for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SetupScope {
    /// The user, in all projects.
    User,
    /// One project, and everyone who works in it.
    Project,
}

/// One of our entries in one file.
pub struct Part {
    /// Whom it is for.
    pub whose: SetupScope,
    pub place: Place,
    pub what: EntryContent,
}

/// The location of a file or a folder.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Place {
    /// The folder that the path starts from.
    pub base: Base,
    /// The path below it.
    pub path: &'static str,
    /// An alternative path, used if that file exists instead.
    pub or: Option<&'static str>,
}

impl Place {
    /// Returns the path below the home folder, assuming that no environment variable is set.
    pub fn below_home(&self) -> String {
        match self.base {
            Base::Home | Base::Project => self.path.to_owned(),
            Base::Config | Base::Application => format!(".config/{}", self.path),
            Base::Variable(_, folder) => format!("{folder}/{}", self.path),
        }
    }
}

/// A folder that paths start from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Base {
    /// The user's home.
    Home,
    /// The user's XDG configuration folder.
    Config,
    /// Where desktop programs keep the user's settings: the XDG configuration folder on Linux,
    /// `~/Library/Application Support` on macOS, `%APPDATA%` on Windows.
    Application,
    /// The folder that this environment variable names, or this folder in the home folder if it is not set.
    Variable(&'static str, &'static str),
    Project,
}

/// An entry of ours in a file.
pub enum EntryContent {
    /// Our MCP server: the path of the JSON object that lists servers, and the function that builds the entry.
    Server(&'static [&'static str], fn(&str) -> Value),
    /// Our MCP server, as a table in this TOML table.
    ServerTable(&'static str),
    /// Our hooks, in JSON.
    Hooks(&'static Hooks),
    /// The whole file, with the path of our program filled in.
    Plugin(&'static str),
}

impl EntryContent {
    /// Our MCP server, where most clients have their servers and in the form that they use.
    pub(crate) const USUAL_SERVER: Self = Self::Server(&["mcpServers"], server::plain);
}

/// The layout of a client's hooks.
pub struct Hooks {
    /// Whether hooks are in groups, each with a matcher.
    pub grouped: bool,
    /// The key of a hook's command.
    pub command: &'static str,
    /// Whether each hook has a `type` of `command`.
    pub typed: bool,
    /// The key and the value of the timeout.
    pub timeout: (&'static str, u64),
    /// The events that the client gives less time, with that time. Codex warns at each start about more.
    pub limits: &'static [(&'static str, u64)],
    /// The version that the file must name, if any.
    pub version: Option<u64>,
    /// The events, each with a matcher for the tools it is wanted for, or `None` for all.
    pub events: &'static [(&'static str, Option<&'static str>)],
}

impl Hooks {
    /// The layout of Claude Code, which others share in part, without events.
    pub(crate) const OF_CLAUDE: Self = Self {
        grouped: true,
        command: "command",
        typed: true,
        timeout: ("timeout", 10),
        limits: &[],
        version: None,
        events: &[],
    };
}

/// The command that a client is to call.
#[derive(Debug, Clone, Copy)]
pub struct Call<'a> {
    /// The absolute path of our program, or its plain name if it is to be found on the PATH: on Windows, [`ON_WINDOWS`].
    pub program: &'a str,
    pub client: &'a str,
}

/// The reason why a file cannot be changed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unusable {
    /// The line, counted from one, if it is known.
    pub line: Option<usize>,
    /// The reason, as a sentence without its full stop.
    pub why: String,
}

impl Recipe {
    /// A recipe with nothing in it, for the fields that a client does not need.
    pub(crate) const BLANK: Self = Self {
        client: None,
        name: "",
        title: "",
        programs: &[],
        traces: &[],
        variables: &[],
        session_variable: None,
        transcript: None,
        rules: &[],
        parts: &[],
        servers: ServerForm::USUAL,
        then: None,
        plugin: None,
        trust: None,
        window: None,
        cache: None,
        status_line: None,
        deferral: None,
        blind_spot: None,
        basis: Basis::Documented,
    };

    /// Returns a recipe with nothing in it but the client that it sets up.
    pub(crate) const fn of(client: &'static Client) -> Self {
        Self { client: Some(client), name: client.name, title: client.title, ..Self::BLANK }
    }

    /// Returns the parts for the user or for a project; empty if the client has no such settings. Leaves out hooks of
    /// clients that we cannot decode, since each of their calls would be a fault.
    pub fn parts_for(&self, whose: SetupScope) -> impl Iterator<Item = &'static Part> {
        let understood = self.client.is_some();
        self.parts.iter().filter(move |part| part.whose == whose && (understood || !part.is_hooks()))
    }

    /// Returns whether the client sets this variable for what it starts.
    pub fn sets_variable(&self, name: &std::ffi::OsStr) -> bool {
        self.variables.iter().any(|known| name == *known)
    }

    /// Returns the variable that names another folder for the client's files, and the folder below the home folder
    /// that it replaces.
    pub fn moved_folder(&self) -> Option<(&'static str, &'static str)> {
        self.traces.iter().find_map(|trace| match trace.base {
            Base::Variable(variable, folder) => Some((variable, folder)),
            _ => None,
        })
    }

    /// Returns whether the client calls our hooks, and not only our MCP server.
    pub fn has_hooks(&self) -> bool {
        self.parts_for(SetupScope::User).any(Part::is_hooks)
    }
}

impl Part {
    /// Returns the file's text with our part added, unchanged if it is already there. A missing file is an empty text.
    pub fn add(&self, text: &str, call: Call<'_>) -> Result<String, Unusable> {
        match &self.what {
            EntryContent::Server(at, form) => server::add(text, at, &form(call.program)),
            EntryContent::ServerTable(table) => table::add(text, table, call.program),
            EntryContent::Hooks(hooks) => hooks::add(text, hooks, call),
            EntryContent::Plugin(source) => ours::add_plugin(text, source, call.program),
        }
    }

    /// Returns the file's text with our part removed, unchanged if it is not there.
    pub fn remove(&self, text: &str) -> Result<String, Unusable> {
        match &self.what {
            EntryContent::Server(at, _) => server::remove(text, at),
            EntryContent::ServerTable(table) => table::remove(text, table),
            EntryContent::Hooks(_) => hooks::remove(text),
            EntryContent::Plugin(source) => Ok(ours::remove_plugin(text, source)),
        }
    }

    /// Returns whether nothing is left in the file, so that it can be removed if it was ours.
    pub fn says_nothing(&self, text: &str) -> bool {
        match &self.what {
            EntryContent::Server(..) | EntryContent::Hooks(_) => json::is_effectively_empty(text),
            EntryContent::ServerTable(_) | EntryContent::Plugin(_) => text.trim().is_empty(),
        }
    }

    /// Returns whether this part makes the client call our hooks.
    pub fn is_hooks(&self) -> bool {
        matches!(self.what, EntryContent::Hooks(_) | EntryContent::Plugin(_))
    }

    /// Returns whether the whole file is ours.
    pub fn is_whole(&self) -> bool {
        matches!(self.what, EntryContent::Plugin(_))
    }

    /// Returns a title for people.
    pub fn title(&self) -> &'static str {
        match &self.what {
            EntryContent::Server(..) | EntryContent::ServerTable(_) => "MCP server",
            EntryContent::Hooks(_) => "hooks",
            EntryContent::Plugin(_) => "plugin",
        }
    }
}

pub(crate) const fn home(path: &'static str) -> Place {
    Place { base: Base::Home, path, or: None }
}

/// Returns a place in the user's configuration folder.
pub(crate) const fn config(path: &'static str) -> Place {
    Place { base: Base::Config, path, or: None }
}

/// Returns a place in the folder of desktop programs.
pub(crate) const fn application(path: &'static str) -> Place {
    Place { base: Base::Application, path, or: None }
}

pub(crate) const fn project(path: &'static str) -> Place {
    Place { base: Base::Project, path, or: None }
}

pub(crate) const fn user_part(place: Place, what: EntryContent) -> Part {
    Part { whose: SetupScope::User, place, what }
}

pub(crate) const fn project_part(place: Place, what: EntryContent) -> Part {
    Part { whose: SetupScope::Project, place, what }
}

impl Unusable {
    fn new(why: impl Into<String>) -> Self {
        Self { line: None, why: why.into() }
    }
}

impl std::fmt::Display for Unusable {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.line {
            Some(line) => write!(f, "line {line}: {}", self.why),
            None => f.write_str(&self.why),
        }
    }
}
