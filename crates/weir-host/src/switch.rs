//! Whether Weir is off: everywhere, for a client, or in a folder.
//!
//! Invariants: the switch belongs to the user, and nothing in a project can turn it; as long as it cannot be read, Weir
//! counts as off, since recording what the user wanted to keep out cannot be undone.

use std::path::{Path, PathBuf};

use serde::Deserialize;
use weir_clients::RECIPES;
use weir_store::private;

use crate::config::{self, Config};
use crate::env::{self, Paths};
use crate::error::{CommandError, ErrorKind};
use crate::foreign;
use crate::os;
use crate::project::Project;
use crate::trust;
use crate::user_files;

/// The name of the file, beside the configuration.
pub const FILE: &str = "off.toml";
/// The file in the data folder that is locked while the switch is turned.
const LOCK_FILE: &str = "off.lock";
/// The setting that lists folders in which Weir is off.
const SETTING: &str = "off_folders";

/// What it means that Weir is off.
pub const OFF_MEANS: &str = "nothing is recorded, held back or added";

/// Why Weir is off.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Off {
    /// The variable `WEIR_OFF` is set.
    Variable,
    /// Whether it is off cannot be told, for this reason.
    Unknown(String),
    Everywhere,
    Client(String),
    Folder(PathBuf),
    /// It is off in this folder, which the configuration lists.
    Setting(PathBuf),
}

impl Off {
    /// Says where Weir is off, to follow "Weir is".
    pub fn place(&self) -> String {
        match self {
            Self::Variable => "off in this shell (WEIR_OFF is set)".to_owned(),
            Self::Unknown(why) => format!("off as long as it is not known whether you turned it off: {why}"),
            Self::Everywhere => "off everywhere".to_owned(),
            Self::Client(name) => format!("off for {}", title(name)),
            Self::Folder(folder) => format!("off in {}", folder.display()),
            Self::Setting(folder) => format!("off in {} ({SETTING} in the configuration)", folder.display()),
        }
    }

    /// Says how to turn Weir on again.
    pub fn remedy(&self) -> String {
        match self {
            Self::Variable => "unset WEIR_OFF to turn it on".to_owned(),
            Self::Unknown(_) => "make the file readable and valid, or remove it".to_owned(),
            Self::Everywhere => "`weir on --everywhere` turns it on".to_owned(),
            Self::Client(name) => format!("turn it on with: weir on --client {name}"),
            Self::Folder(folder) => format!("`weir on` in {} turns it on", folder.display()),
            Self::Setting(_) => "`weir config edit` opens the configuration".to_owned(),
        }
    }

    /// Returns the error for a call that Weir does not answer while it is off.
    pub fn error(&self) -> CommandError {
        CommandError::new(ErrorKind::Denied, format!("Weir is {}", self.place())).hint(self.remedy())
    }
}

fn title(name: &str) -> &str {
    RECIPES.iter().find(|recipe| recipe.name == name).map_or(name, |recipe| recipe.title)
}

/// Where the user turned Weir off, as the file has it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct SwitchFile {
    pub everywhere: bool,
    pub clients: Vec<String>,
    /// Folders, with everything below them.
    pub folders: Vec<PathBuf>,
}

impl SwitchFile {
    pub fn path(paths: &Paths) -> PathBuf {
        paths.config.with_file_name(FILE)
    }

    /// Reads the file. A missing one says nothing.
    pub fn read(paths: &Paths) -> Result<Self, String> {
        let path = Self::path(paths);
        let text = text_of(&path)?;
        toml::from_str(&text).map_err(|error| format!("cannot use {}: {}", path.display(), error.message()))
    }

    /// Changes the file while no other process does, so that of two changes at once none is lost.
    pub fn change(paths: &Paths, work: impl FnOnce(&mut Self)) -> Result<(), CommandError> {
        let path = Self::path(paths);
        let cannot = |why: String| {
            CommandError::new(ErrorKind::Failed, format!("cannot write {}: {why}", path.display()))
                .hint("`weir teardown` disconnects Weir from your clients")
        };
        let lock = private::folder(&paths.data)
            .and_then(|()| private::open(&paths.data.join(LOCK_FILE), &private::options()))
            .map_err(|error| cannot(error.to_string()))?;
        lock.lock().map_err(|error| cannot(error.to_string()))?;
        let mut file = Self::read(paths).map_err(|why| Off::Unknown(why).error())?;
        work(&mut file);
        file.write(&path).map_err(cannot)
    }

    /// Writes the file, or removes it if it would say nothing.
    fn write(&self, path: &Path) -> Result<(), String> {
        if *self == Self::default() {
            return match std::fs::remove_file(path) {
                Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(error.to_string()),
                _ => Ok(()),
            };
        }
        let text = |folder: &PathBuf| folder.to_str().map(str::to_owned);
        let folders: Option<Vec<String>> = self.folders.iter().map(text).collect();
        let folders = folders.ok_or("the name of a folder is not UTF-8")?;
        let mut document = toml_edit::DocumentMut::new();
        document["everywhere"] = toml_edit::value(self.everywhere);
        document["clients"] = toml_edit::value(toml_edit::Array::from_iter(&self.clients));
        document["folders"] = toml_edit::value(toml_edit::Array::from_iter(folders));
        // Half a file would turn Weir off everywhere.
        user_files::write(&user_files::target(path), &document.to_string(), true).map_err(|error| error.message)
    }
}

/// Everything that decides whether Weir is off. The default is on.
#[derive(Debug, Default)]
pub struct Switch {
    file: SwitchFile,
    /// The folders that the configuration lists.
    settings: Vec<PathBuf>,
    /// Why it is off whatever the file says.
    whole: Option<Off>,
    /// The text of the configuration, if it was read.
    text: Option<String>,
}

impl Switch {
    /// Reads the switch of this user. Costs little while nothing is off: two files that need not exist.
    pub fn read(paths: &Paths) -> Self {
        if env::is_off() {
            return Self { whole: Some(Off::Variable), ..Self::default() };
        }
        let read = SwitchFile::read(paths).and_then(|file| Ok((file, text_of(&paths.config)?)));
        let read = read.and_then(|(file, text)| Ok((file, listed_folders(&text, &paths.config)?, text)));
        match read {
            Ok((file, settings, text)) => {
                let whole = file.everywhere.then_some(Off::Everywhere);
                Self { file, settings, whole, text: Some(text) }
            }
            Err(why) => Self { whole: Some(Off::Unknown(why)), ..Self::default() },
        }
    }

    /// Returns the configuration, from the text that was read for the switch if there is one.
    pub fn config(&self, path: &Path) -> Result<Config, CommandError> {
        self.text.as_ref().map_or_else(|| config::read(path), |text| config::parse(text, path))
    }

    /// Returns why Weir is off wherever this client works. `client` is its name, or what it calls itself.
    pub fn off_for(&self, client: &str) -> Option<Off> {
        let is_meant = |name: &&String| is_client(name, client);
        self.whole.clone().or_else(|| self.file.clients.iter().find(is_meant).cloned().map(Off::Client))
    }

    /// Returns why Weir is off for a client in a folder of a project.
    pub fn off_here(&self, client: &str, project: &Project, folder: &Path) -> Option<Off> {
        self.off_for(client).or_else(|| self.off_in(project, folder))
    }

    /// Returns everywhere that Weir is off: in a folder of a project, and for clients.
    pub fn all_off(&self, project: &Project, folder: &Path) -> Vec<Off> {
        let clients = self.file.clients.iter().cloned().map(Off::Client);
        self.off_in(project, folder).into_iter().chain(clients).collect()
    }

    /// Returns why Weir is off in a folder of a project, for every client.
    pub fn off_in(&self, project: &Project, folder: &Path) -> Option<Off> {
        if self.whole.is_some() || (self.file.folders.is_empty() && self.settings.is_empty()) {
            return self.whole.clone();
        }
        // The folder as it is named and as it is, the work tree, and the repository that all work trees share.
        let real = os::real_path(folder).ok();
        let repository = project.own_key().split_once(':').map(|(_, path)| Path::new(path));
        let places = [Some(folder), real.as_deref(), Some(&project.root), repository];
        let covers = |off: &&PathBuf| places.iter().flatten().any(|place| place.starts_with(off));
        let listed = |off: &&PathBuf| covers(off) || os::real_path(off).is_ok_and(|real| covers(&&real));
        let by_file = self.file.folders.iter().find(covers).cloned().map(Off::Folder);
        by_file.or_else(|| self.settings.iter().find(listed).cloned().map(Off::Setting))
    }
}

/// Whether a name of a client means a client that calls itself like this: `codex`, `codex-mcp-client`.
fn is_client(name: &str, called: &str) -> bool {
    let plain = |text: &str| text.chars().filter(char::is_ascii_alphanumeric).collect::<String>().to_ascii_lowercase();
    let called = plain(called);
    let own = weir_clients::find(name).map(|client| client.session);
    own.into_iter().chain([name]).any(|name| called.starts_with(&plain(name)))
}

/// Returns the folders that the configuration lists. Other settings may be wrong; they do not matter here.
fn listed_folders(text: &str, path: &Path) -> Result<Vec<PathBuf>, String> {
    #[derive(Default, Deserialize)]
    #[serde(default)]
    struct Settings {
        hold: Hold,
    }
    #[derive(Default, Deserialize)]
    #[serde(default)]
    struct Hold {
        off_folders: Vec<PathBuf>,
    }
    if !text.contains(SETTING) {
        return Ok(Vec::new());
    }
    let settings: Settings = toml::from_str(text)
        .map_err(|error| format!("cannot read {SETTING} in {}: {}", path.display(), error.message()))?;
    Ok(settings.hold.off_folders)
}

fn text_of(path: &Path) -> Result<String, String> {
    match trust::read_own_file(path, foreign::MAX_SETTINGS_BYTES) {
        Ok(bytes) => Ok(String::from_utf8_lossy(&bytes).into_owned()),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(String::new()),
        Err(error) => Err(format!("cannot read {}: {error}", path.display())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(called: &str, expected: &[&str]) {
        let meant: Vec<&str> =
            RECIPES.iter().map(|recipe| recipe.name).filter(|name| is_client(name, called)).collect();
        assert_eq!(meant, expected, "{called}");
    }

    #[test]
    fn a_client_is_known_by_its_name_and_by_what_it_calls_itself() {
        check("claude", &["claude"]);
        check("claude-code", &["claude"]);
        check("codex-mcp-client", &["codex"]);
        check("gemini-cli-mcp-client", &["gemini"]);
        check("Visual Studio Code", &["vscode"]);
        check("opencode", &["opencode"]);
        check("another", &[]);
    }
}
