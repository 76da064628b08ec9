//! Reads the environment. Invariant: nothing else reads it, and every variable that Weir uses is named here.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use weir_clients::{Borrower, RECIPES};

use crate::error::{CommandError, ErrorKind};
use crate::os;

/// Where Weir keeps its data, instead of the XDG data folder.
pub const WEIR_DATA: &str = "WEIR_DATA";
/// The work a call belongs to, instead of the git branch.
pub const WEIR_WORK: &str = "WEIR_WORK";
/// The session a call belongs to, for scripts that need one.
pub const WEIR_SESSION: &str = "WEIR_SESSION";

/// Makes hooks do nothing if set to anything but 0 or an empty value.
pub const WEIR_OFF: &str = "WEIR_OFF";

/// The maximum number of seconds a hook may take, for machines on which the default is too short.
pub const WEIR_HOOK_SECONDS: &str = "WEIR_HOOK_SECONDS";

/// The token of a run, for the stand-ins of brokered programs inside its sandbox.
pub const WEIR_BROKER_TOKEN: &str = "WEIR_BROKER_TOKEN";

/// The variable that any client may set for what it starts:
/// <https://github.com/vercel/vercel/tree/main/packages/detect-agent>.
const ANY_CLIENT: &str = "AI_AGENT";

/// The proxies for fetching pages over `http`, over `https` or over both, and the hosts that are reached directly. The
/// lower-case names also work and take precedence.
const HTTP_PROXY: &str = "HTTP_PROXY";
const HTTPS_PROXY: &str = "HTTPS_PROXY";
const ALL_PROXY: &str = "ALL_PROXY";
const NO_PROXY: &str = "NO_PROXY";

/// Variables that runs inherit unchanged. All others are dropped, because variables often contain secrets.
const FOR_RUNS: &[&str] = &[
    "PATH", "HOME", "USER", "LOGNAME", "SHELL", "LANG", "LANGUAGE", "TZ",
    // Locations of toolchains.
    "CARGO_HOME", "RUSTUP_HOME", "RUSTUP_TOOLCHAIN", "GOROOT", "GOPATH", "GOMODCACHE", "GOFLAGS", "JAVA_HOME",
    "NVM_DIR", "NODE_PATH", "BUN_INSTALL", "DENO_DIR", "PYENV_ROOT", "PYENV_VERSION", "VIRTUAL_ENV", "CONDA_PREFIX",
    "PYTHONPATH", "RBENV_ROOT", "GEM_HOME", "GEM_PATH", "PERL5LIB", "R_LIBS_USER", "MIX_HOME", "HEX_HOME",
];

/// The values that Weir takes from its environment, each read once. What only runs need is read when a run needs it, so
/// that hooks do not pay for it.
#[derive(Debug, Clone)]
pub struct Env {
    /// The folder the call is made in.
    pub folder: PathBuf,
    /// The work named by the caller.
    pub work: Option<String>,
    /// The session named by the caller.
    pub session: Option<String>,
    /// The session named by the client that started this process.
    pub client_session: Option<String>,
    pub home: Option<PathBuf>,
    all: OnceLock<Vec<(OsString, OsString)>>,
    data: Option<PathBuf>,
    data_home: Option<PathBuf>,
    config_home: Option<PathBuf>,
    cache_home: Option<PathBuf>,
}

/// The locations of Weir's data, configuration and cache.
#[derive(Debug, Clone)]
pub struct Paths {
    /// Everything Weir stores.
    pub data: PathBuf,
    /// The user's configuration file.
    pub config: PathBuf,
    /// Data that can be recreated.
    pub cache: PathBuf,
}

impl Env {
    /// Reads the environment of this process.
    #[expect(clippy::disallowed_methods, reason = "this is the one place that reads the environment")]
    pub fn capture() -> Result<Self, CommandError> {
        std::env::current_dir().map(Self::capture_in).map_err(|error| {
            CommandError::new(ErrorKind::Failed, format!("cannot use the current folder: {error}"))
                .hint("cd to a folder that exists")
        })
    }

    /// Reads the environment of this process, for a call made in another folder.
    #[expect(clippy::disallowed_methods, reason = "this is the one place that reads the environment")]
    pub fn capture_in(folder_of_call: PathBuf) -> Self {
        let text = |name: &str| std::env::var(name).ok().filter(|value| !value.is_empty());
        // The XDG specification says that relative paths in these variables must be ignored.
        let folder = |name: &str| std::env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
        Self {
            folder: folder_of_call,
            work: text(WEIR_WORK),
            session: text(WEIR_SESSION),
            client_session: RECIPES.iter().filter_map(|recipe| recipe.session_variable).find_map(text),
            data: folder(WEIR_DATA),
            data_home: folder("XDG_DATA_HOME"),
            config_home: folder("XDG_CONFIG_HOME"),
            cache_home: folder("XDG_CACHE_HOME"),
            home: home(),
            all: OnceLock::new(),
        }
    }

    #[expect(clippy::disallowed_methods, reason = "this is the one place that reads the environment")]
    fn all(&self) -> &[(OsString, OsString)] {
        self.all.get_or_init(|| std::env::vars_os().map(|(name, value)| (os::variable_name(name), value)).collect())
    }

    /// Returns the variables that runs inherit.
    pub fn for_runs(&self) -> impl Iterator<Item = &(OsString, OsString)> {
        self.all().iter().filter(|(name, _)| is_for_runs(name))
    }

    /// Returns the variables with these names, for runs that the user has granted them to.
    pub fn named(&self, names: &[String]) -> Vec<(OsString, OsString)> {
        self.all().iter().filter(|(name, _)| names.iter().any(|wanted| name == wanted.as_str())).cloned().collect()
    }

    pub fn value(&self, name: &str) -> Option<&OsStr> {
        self.all().iter().find(|(known, _)| known == name).map(|(_, value)| value.as_os_str())
    }

    /// Whether a client started this process, so that a model reads its output.
    pub fn is_of_client(&self) -> bool {
        let is_of_client = |name: &OsStr| name == ANY_CLIENT || RECIPES.iter().any(|recipe| recipe.sets_variable(name));
        self.all().iter().any(|(name, value)| !value.is_empty() && is_of_client(name))
    }

    /// Returns the folder that a variable names, if its path is absolute.
    pub fn named_folder(&self, name: &str) -> Option<PathBuf> {
        self.value(name).map(PathBuf::from).filter(|path| path.is_absolute())
    }

    /// Returns the variables whose names have one of these prefixes, for programs that run with the user's credentials.
    #[cfg_attr(not(target_os = "linux"), expect(dead_code, reason = "only Linux has the broker"))]
    pub fn beginning_with(&self, starts: &[&str]) -> Vec<(OsString, OsString)> {
        let wanted = |name: &OsStr| starts.iter().any(|start| name.as_encoded_bytes().starts_with(start.as_bytes()));
        self.all().iter().filter(|(name, _)| wanted(name)).cloned().collect()
    }

    /// Returns the proxies for fetching pages, from the conventional variables.
    pub fn proxies(&self) -> weir_fetch::Proxies {
        let value = |name: &str| {
            let named = |wanted: &str| self.all().iter().find(|(name, _)| name == wanted);
            let (_, value) = named(&name.to_ascii_lowercase()).or_else(|| named(name))?;
            value.to_str().map(str::to_owned).filter(|value| !value.is_empty())
        };
        let all = value(ALL_PROXY);
        weir_fetch::Proxies {
            http: value(HTTP_PROXY).or_else(|| all.clone()),
            https: value(HTTPS_PROXY).or(all),
            none_for: value(NO_PROXY).unwrap_or_default(),
        }
    }

    /// Returns the folder of the system for temporary files.
    #[expect(clippy::disallowed_methods, reason = "this is the one place that reads the environment")]
    pub fn temporary_folder(&self) -> PathBuf {
        std::env::temp_dir()
    }

    /// Derives the paths from the environment. Returns `None` without a home folder.
    pub fn paths(&self) -> Option<Paths> {
        let under_home = |part: &str| self.home.as_deref().map(|home: &Path| home.join(part));
        let data_home = || self.data_home.clone().or_else(|| under_home(".local/share"));
        let config_home = self.config_home.clone().or_else(|| under_home(".config"));
        let data = self.data.clone().or_else(|| data_home().map(|folder| folder.join("weir")))?;
        let config = config_home.map_or_else(|| data.join("config.toml"), |folder| folder.join("weir/config.toml"));
        let cache_home = self.cache_home.clone().or_else(|| under_home(".cache"));
        let cache = cache_home.map_or_else(|| data.join("cache"), |folder| folder.join("weir"));
        Some(Paths { data, config, cache })
    }
}

/// Whether the caller of a hook is a client that borrows the hooks of others.
#[expect(clippy::disallowed_methods, reason = "this is the one place that reads the environment")]
pub fn is_called_by(borrower: &Borrower) -> bool {
    std::env::var_os(borrower.sets).is_some() && std::env::var_os(borrower.unless).is_none()
}

/// Returns the folder in which the client that calls a hook was started, by the variable in which the client names it.
#[expect(clippy::disallowed_methods, reason = "this is the one place that reads the environment")]
pub fn client_folder(variable: &str) -> Option<PathBuf> {
    std::env::var_os(variable).map(PathBuf::from).filter(|path| path.is_absolute())
}

#[expect(clippy::disallowed_methods, reason = "this is the one place that reads the environment")]
pub fn home() -> Option<PathBuf> {
    std::env::home_dir().filter(|path| path.is_absolute())
}

#[expect(clippy::disallowed_methods, reason = "this is the one place that reads the environment")]
pub fn is_off() -> bool {
    std::env::var_os(WEIR_OFF).is_some_and(|value| !value.is_empty() && value != "0")
}

/// Returns the user's limit for a hook in seconds, if set.
#[expect(clippy::disallowed_methods, reason = "this is the one place that reads the environment")]
pub fn hook_seconds() -> Option<u32> {
    std::env::var_os(WEIR_HOOK_SECONDS)?.to_str()?.parse().ok().filter(|seconds| *seconds > 0)
}

/// Returns the token of the run that this process is part of.
#[expect(clippy::disallowed_methods, reason = "this is the one place that reads the environment")]
#[cfg_attr(not(target_os = "linux"), expect(dead_code, reason = "only Linux has the broker"))]
pub fn broker_token() -> Option<OsString> {
    std::env::var_os(WEIR_BROKER_TOKEN)
}

fn is_for_runs(name: &OsStr) -> bool {
    name.to_str().is_some_and(|name| FOR_RUNS.contains(&name) || name.starts_with("LC_"))
}
