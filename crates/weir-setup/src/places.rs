//! Locates the files of clients on this machine, and detects which clients are installed.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use weir_clients::RECIPES;
use weir_clients::setup::{Base, ON_WINDOWS, Place, Recipe, SetupScope};
use weir_context::Context;
use weir_host::env::Paths;
use weir_host::error::{CommandError, ErrorKind};
use weir_host::os;

/// The folders that paths start from.
#[derive(Clone)]
pub(super) struct Places {
    home: PathBuf,
    config: PathBuf,
    project: PathBuf,
    variables: Vec<(OsString, OsString)>,
    pub ledger: PathBuf,
    pub paths: Paths,
}

/// Folders in which package managers keep a program for one call, and the command that does.
const CACHES: &[(&[&str], &str)] = &[
    (&["_npx"], "npx"),
    (&["pnpm", "dlx"], "pnpm dlx"),
    (&["uv", "archive-v0"], "uvx"),
    (&[".cache", "pipx"], "pipx run"),
    (&["pipx", ".cache"], "pipx run"),
];

/// The variables that setup uses besides those that recipes name.
const VARIABLES: [&str; 3] = ["PATH", "XDG_CONFIG_HOME", "APPDATA"];

impl Places {
    pub(super) fn new(context: &Context) -> Result<Self, CommandError> {
        let home = context.env().home.clone().ok_or_else(|| {
            CommandError::new(ErrorKind::Config, "cannot find the home folder, where clients keep their settings")
                .hint("set HOME")
        })?;
        let moved = RECIPES.iter().filter_map(|recipe| recipe.moved_folder()).map(|(variable, _)| variable);
        let variables: Vec<String> = VARIABLES.into_iter().chain(moved).map(str::to_owned).collect();
        let variables = context.env().named(&variables);
        let config = absolute(&variables, "XDG_CONFIG_HOME").unwrap_or_else(|| home.join(".config"));
        let project = context.project().root.clone();
        let ledger = context.paths().data.join("setup/ledger.json");
        let paths = context.paths().clone();
        Ok(Self { home, config, project, variables, ledger, paths })
    }

    pub(super) fn in_project(&self, project: PathBuf) -> Self {
        Self { project, ..self.clone() }
    }

    pub(super) fn project(&self) -> &Path {
        &self.project
    }

    /// Whether a folder is the home folder. The path of a project has no links; that of the home folder may have some.
    pub(super) fn is_home(&self, folder: &Path) -> bool {
        self.home == folder || os::real_path(&self.home).is_ok_and(|home| home == folder)
    }

    /// Returns the path of a file. If it has two possible names, returns the one that exists.
    pub(super) fn path(&self, place: &Place) -> PathBuf {
        let base = match place.base {
            Base::Home => self.home.clone(),
            Base::Config => self.config.clone(),
            Base::Application => self.application(std::env::consts::OS),
            Base::Variable(name, folder) => absolute(&self.variables, name).unwrap_or_else(|| self.home.join(folder)),
            Base::Project => self.project.clone(),
        };
        let path = if place.path.is_empty() { base.clone() } else { base.join(place.path) };
        place.or.map(|other| base.join(other)).filter(|other| other.exists() && !path.exists()).unwrap_or(path)
    }

    pub(super) fn is_installed(&self, recipe: &Recipe) -> bool {
        self.program_of(recipe).is_some() || recipe.traces.iter().any(|place| self.path(place).exists())
    }

    pub(super) fn program_of(&self, recipe: &Recipe) -> Option<PathBuf> {
        recipe.programs.iter().find_map(|program| self.on_path(program).next())
    }

    /// Returns the path of Weir's own program: a name on the PATH that survives updates, if there is one. In a project,
    /// this is the plain name, since others may share the settings and have the program elsewhere; on Windows, it is the
    /// name of the file, which every shell understands.
    pub(super) fn our_program(&self, whose: SetupScope) -> Result<String, CommandError> {
        let cannot = |why: String| CommandError::new(ErrorKind::Failed, why);
        let running = std::env::current_exe().map_err(|error| cannot(format!("cannot find this program: {error}")))?;
        let real = os::real_path(&running).unwrap_or_else(|_| running.clone());
        let same = |path: &PathBuf| os::real_path(path).is_ok_and(|path| path == real);
        let found = self.on_path("weir").find(same);
        if whose == SetupScope::Project && found.is_some() {
            return Ok("weir".to_owned());
        }
        let is_on_path = found.is_some();
        let program = found.unwrap_or(running);
        if program.file_name().is_none_or(|name| name != "weir" && name != "weir.exe") {
            let message = format!("this program is {}, but setup recognises only the name weir", program.display());
            return Err(cannot(message).hint("rename it to weir"));
        }
        if let Some(command) = cache_of(&program) {
            let message = format!("{} is in the cache of `{command}`, which may be emptied", program.display());
            return Err(cannot(message).hint("install Weir first, such as with `npm install --global weir-cli`"));
        }
        if cfg!(windows) && is_on_path {
            return Ok(ON_WINDOWS.to_owned());
        }
        program.to_str().map(str::to_owned).ok_or_else(|| {
            cannot(format!("the path of this program is not UTF-8: {}", program.display()))
                .hint("move it to a path that is UTF-8")
        })
    }

    /// Returns a path as a person writes it.
    pub(super) fn short(&self, path: &Path) -> String {
        match path.strip_prefix(&self.home) {
            Ok(rest) => format!("~/{}", rest.display()),
            Err(_) => path.display().to_string(),
        }
    }

    pub(super) fn project_is_home(&self) -> bool {
        self.is_home(&self.project)
    }

    /// Returns where desktop programs of a system keep the user's settings.
    fn application(&self, system: &str) -> PathBuf {
        match system {
            "macos" => self.home.join("Library/Application Support"),
            "windows" => absolute(&self.variables, "APPDATA").unwrap_or_else(|| self.home.join("AppData/Roaming")),
            _ => self.config.clone(),
        }
    }

    fn on_path<'a>(&'a self, program: &'a str) -> impl Iterator<Item = PathBuf> + 'a {
        let path = self.variables.iter().find(|(name, _)| name == "PATH").map(|(_, value)| value);
        let folders = path.into_iter().flat_map(std::env::split_paths).filter(|folder| folder.is_absolute());
        let named = move |folder: PathBuf| {
            os::PROGRAM_ENDINGS.iter().map(move |ending| folder.join(format!("{program}{ending}")))
        };
        let is_program = |path: &PathBuf| path.metadata().is_ok_and(|about| os::is_program(&about));
        folders.flat_map(named).filter(is_program)
    }
}

/// Returns the command that keeps a program in its cache, if the program is in one.
fn cache_of(program: &Path) -> Option<&'static str> {
    let parts: Vec<&str> = program.iter().filter_map(OsStr::to_str).collect();
    let is_in = |folders: &[&str]| parts.windows(folders.len()).any(|window| window == folders);
    CACHES.iter().find(|(folders, _)| is_in(folders)).map(|(_, command)| *command)
}

fn absolute(variables: &[(OsString, OsString)], name: &str) -> Option<PathBuf> {
    let value = variables.iter().find(|(found, _)| found == name).map(|(_, value)| PathBuf::from(value));
    value.filter(|path| path.is_absolute())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn places(variables: &[(&str, &str)]) -> Places {
        Places {
            home: "/home/ana".into(),
            config: "/home/ana/.config".into(),
            project: "/project".into(),
            variables: variables.iter().map(|(name, value)| (name.into(), value.into())).collect(),
            ledger: "/ledger".into(),
            paths: Paths { data: "/data".into(), config: "/config".into(), cache: "/cache".into() },
        }
    }

    #[test]
    fn a_program_that_may_vanish_is_recognised() {
        for (program, expected) in [
            ("/home/ana/.npm/_npx/a1b2/node_modules/weir-cli-linux-x64/bin/weir", Some("npx")),
            ("/home/ana/.cache/pnpm/dlx/a1b2/node_modules/weir-cli-linux-x64/bin/weir", Some("pnpm dlx")),
            ("/home/ana/.cache/uv/archive-v0/a1b2/bin/weir", Some("uvx")),
            ("/home/ana/.cache/pipx/a1b2/bin/weir", Some("pipx run")),
            ("/home/ana/.local/share/uv/tools/weir-cli/bin/weir", None),
            ("/usr/lib/node_modules/weir-cli/node_modules/weir-cli-linux-x64/bin/weir", None),
            ("/usr/bin/weir", None),
        ] {
            assert_eq!(cache_of(Path::new(program)), expected, "{program}");
        }
    }

    #[cfg(unix)]
    #[test]
    fn the_home_folder_is_known_behind_a_link() {
        let place = tempfile::tempdir().unwrap();
        let real = place.path().canonicalize().unwrap().join("real");
        std::fs::create_dir(&real).unwrap();
        std::os::unix::fs::symlink(&real, place.path().join("link")).unwrap();
        let places = Places { home: place.path().join("link"), ..places(&[]) };
        assert!(places.is_home(&real) && !places.is_home(place.path()));
    }

    #[test]
    fn desktop_programs_have_their_settings_where_their_system_keeps_them() {
        // An absolute path of the system on which this runs.
        let roaming = if cfg!(windows) { "C:/roaming" } else { "/roaming" };
        let named = [("APPDATA", roaming)];
        let (none, named) = (&named[..0], &named[..]);
        for (system, variables, expected) in [
            ("linux", none, "/home/ana/.config"),
            ("macos", none, "/home/ana/Library/Application Support"),
            ("windows", none, "/home/ana/AppData/Roaming"),
            ("windows", named, roaming),
            ("linux", named, "/home/ana/.config"),
        ] {
            assert_eq!(places(variables).application(system), Path::new(expected), "{system} {variables:?}");
        }
    }
}
