//! What each client is told so that it calls us: which files, and what of them is ours.
//!
//! A [`Recipe`] is constant data. [`Part::add`] and [`Part::remove`] are functions of a file's text alone: what others
//! wrote stays as it is, and to add twice is to add once. Adding a client is a file in `setup` and a line in
//! [`RECIPES`].

mod amp;
mod antigravity;
mod claude;
mod cline;
mod codex;
mod copilot;
mod cursor;
mod gemini;
mod hooks;
mod jetbrains;
mod json;
mod kilo;
mod kiro;
mod opencode;
mod ours;
mod qwen;
mod server;
mod setting;
mod table;
#[cfg(test)]
mod tests;
mod vscode;
mod window;
mod windsurf;
mod zed;

use serde_json::Value;

pub use setting::Setting;
pub use window::{Scale, Window};

/// Every client that can be set up, those that were run first.
pub const RECIPES: &[&Recipe] = &[
    &claude::CLAUDE,
    &codex::CODEX,
    &opencode::OPENCODE,
    &gemini::GEMINI,
    &qwen::QWEN,
    &copilot::COPILOT,
    &vscode::VSCODE,
    &cursor::CURSOR,
    &windsurf::WINDSURF,
    &cline::CLINE,
    &zed::ZED,
    &kiro::KIRO,
    &jetbrains::JETBRAINS,
    &kilo::KILO,
    &amp::AMP,
    &antigravity::ANTIGRAVITY,
];

/// How one client is set up.
pub struct Recipe {
    /// What it is called in commands.
    pub name: &'static str,
    /// What people call it.
    pub title: &'static str,
    /// Its programs, by which it is found on the PATH.
    pub programs: &'static [&'static str],
    /// Folders that are there when it is installed.
    pub traces: &'static [Place],
    /// What is written, for the user and for a project.
    pub parts: &'static [Part],
    /// What the user does afterwards, where something is left to do.
    pub then: Option<&'static str>,
    /// How our plugin shows where the user took that instead.
    pub plugin: Option<Packed>,
    /// For a client that runs only hooks that the user trusts, how to tell which are not.
    pub trust: Option<Trust>,
    /// When it compacts by itself, where that is known.
    pub window: Option<Window>,
    /// Where the command stands whose output it shows below its prompt, if it has such a line.
    pub status_line: Option<Setting>,
    /// How sure we are of the format.
    pub basis: Basis,
}

/// How an installed plugin shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Packed {
    /// As a folder.
    Folder(Place),
    /// As a key `weir@…` of this object of a file.
    Key(Place, &'static str),
}

/// Whether a client's settings, in JSON or TOML, have our plugin in this object.
pub fn has_plugin(settings: &str, object: &str) -> bool {
    json::keys(settings, object).chain(table::keys(settings, object)).any(|key| key.starts_with("weir@"))
}

/// How trust in hooks shows.
pub struct Trust {
    /// The file that says which hooks are trusted.
    pub place: Place,
    /// The events of ours that are not, from the text of that file and the path of the file of hooks.
    pub lacking: fn(&str, &str) -> Vec<&'static str>,
}

/// How sure we are of a format.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Basis {
    /// The real client read what we write.
    Seen,
    /// Its documentation says so; nobody ran it here.
    Documented,
}

/// For whom a client is set up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Whose {
    /// For the user, in all projects.
    User,
    /// For one project, and for whoever else works in it.
    Project,
}

/// One thing in one file.
pub struct Part {
    /// For whom it is.
    pub whose: Whose,
    /// The file.
    pub place: Place,
    /// The thing.
    pub what: What,
}

/// Where a file or a folder is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Place {
    /// Below what.
    pub base: Base,
    /// Its path there.
    pub path: &'static str,
    /// Another name, which is used where it is the one that is there.
    pub or: Option<&'static str>,
}

impl Place {
    /// Its path below the home folder, where no variable says otherwise.
    fn below_home(&self) -> String {
        match self.base {
            Base::Home | Base::Project => self.path.to_owned(),
            Base::Config => format!(".config/{}", self.path),
            Base::Variable(_, folder) => format!("{folder}/{}", self.path),
        }
    }
}

/// A folder that paths start from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Base {
    /// The user's home.
    Home,
    /// The user's configuration folder, as XDG has it.
    Config,
    /// What this variable names, or else this folder of the home.
    Variable(&'static str, &'static str),
    /// The project.
    Project,
}

/// What is ours in a file.
pub enum What {
    /// Our MCP server, in the JSON object at this path, in this form.
    Server(&'static [&'static str], fn(&str) -> Value),
    /// Our MCP server as a table of this TOML table.
    ServerTable(&'static str),
    /// Our hooks, in JSON.
    Hooks(&'static Hooks),
    /// The whole file, with our program in place of the plain name.
    Plugin(&'static str),
}

/// Hooks as a client wants them written.
pub struct Hooks {
    /// Whether they stand in groups, each with a matcher.
    pub grouped: bool,
    /// The key of the command.
    pub command: &'static str,
    /// Whether each says that it is a command.
    pub typed: bool,
    /// The key and the value of the time after which the client gives up.
    pub timeout: (&'static str, u64),
    /// The version that the file must name.
    pub version: Option<u64>,
    /// The events, with the tools that they are wanted for where it is not all of them.
    pub events: &'static [(&'static str, Option<&'static str>)],
}

/// What a client is to call.
#[derive(Debug, Clone, Copy)]
pub struct Call<'a> {
    /// The absolute path of our program, or its plain name for whoever has it on the PATH.
    pub program: &'a str,
    /// The client's name.
    pub client: &'a str,
}

/// Why a file cannot be changed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unusable {
    /// The line, counted from one, where it is known.
    pub line: Option<usize>,
    /// A sentence without its full stop.
    pub why: String,
}

/// The recipe of this name.
pub fn find(name: &str) -> Option<&'static Recipe> {
    RECIPES.iter().copied().find(|recipe| recipe.name == name)
}

impl Recipe {
    /// The parts for the user or for a project; none where the client has no such place. Hooks that we would not
    /// understand are left out: each call would be a fault.
    pub fn parts_for(&self, whose: Whose) -> impl Iterator<Item = &'static Part> {
        let understood = crate::find(self.name).is_some();
        self.parts.iter().filter(move |part| part.whose == whose && (understood || !part.is_hooks()))
    }

    /// Whether hooks of ours are called, or only our MCP server.
    pub fn has_hooks(&self) -> bool {
        self.parts_for(Whose::User).any(Part::is_hooks)
    }
}

impl Part {
    /// The file with our part in it; the same text where it is there already. A file that is missing is empty.
    pub fn add(&self, text: &str, call: Call<'_>) -> Result<String, Unusable> {
        match &self.what {
            What::Server(at, form) => server::add(text, at, &form(call.program)),
            What::ServerTable(table) => table::add(text, table, call.program),
            What::Hooks(hooks) => hooks::add(text, hooks, call),
            What::Plugin(source) => ours::add_plugin(text, source, call.program),
        }
    }

    /// The file without our part; the same text where it is not there.
    pub fn remove(&self, text: &str) -> Result<String, Unusable> {
        match &self.what {
            What::Server(at, _) => server::remove(text, at),
            What::ServerTable(table) => table::remove(text, table),
            What::Hooks(_) => hooks::remove(text),
            What::Plugin(source) => Ok(ours::remove_plugin(text, source)),
        }
    }

    /// Whether the file says nothing any more, and so may go if it was ours.
    pub fn says_nothing(&self, text: &str) -> bool {
        match &self.what {
            What::Server(..) | What::Hooks(_) => json::says_nothing(text),
            What::ServerTable(_) | What::Plugin(_) => text.trim().is_empty(),
        }
    }

    /// Whether it makes the client call our hooks.
    pub fn is_hooks(&self) -> bool {
        matches!(self.what, What::Hooks(_) | What::Plugin(_))
    }

    /// Whether the whole file is ours.
    pub fn is_whole(&self) -> bool {
        matches!(self.what, What::Plugin(_))
    }

    /// What it is, for people.
    pub fn title(&self) -> &'static str {
        match &self.what {
            What::Server(..) | What::ServerTable(_) => "MCP server",
            What::Hooks(_) => "hooks",
            What::Plugin(_) => "plugin",
        }
    }
}

/// A file in the user's home.
const fn home(path: &'static str) -> Place {
    Place { base: Base::Home, path, or: None }
}

/// A file in the user's configuration folder.
const fn config(path: &'static str) -> Place {
    Place { base: Base::Config, path, or: None }
}

/// A file in the project.
const fn project(path: &'static str) -> Place {
    Place { base: Base::Project, path, or: None }
}

/// A part for the user.
const fn user_part(place: Place, what: What) -> Part {
    Part { whose: Whose::User, place, what }
}

/// A part for a project.
const fn project_part(place: Place, what: What) -> Part {
    Part { whose: Whose::Project, place, what }
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
