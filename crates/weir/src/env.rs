//! Reads the environment. Invariant: this is the only place that does; every variable Weir heeds is named here.

use std::path::{Path, PathBuf};

/// Where Weir keeps its data, instead of the XDG data folder.
pub(crate) const WEIR_DATA: &str = "WEIR_DATA";
/// The work a call belongs to, instead of the git branch.
pub(crate) const WEIR_WORK: &str = "WEIR_WORK";
/// The session a call belongs to, for scripts that want one.
pub(crate) const WEIR_SESSION: &str = "WEIR_SESSION";

/// The session of a client that names it in the environment of the servers it starts, as Claude Code does.
pub(crate) const CLAUDE_CODE_SESSION_ID: &str = "CLAUDE_CODE_SESSION_ID";

/// What Weir takes from its environment, read once.
#[derive(Debug, Clone)]
pub(crate) struct Env {
    /// The folder the call is made in.
    pub folder: PathBuf,
    /// The work named by the caller.
    pub work: Option<String>,
    /// The session named by the caller.
    pub session: Option<String>,
    /// The session named by the client that started us.
    pub client_session: Option<String>,
    data: Option<PathBuf>,
    data_home: Option<PathBuf>,
    config_home: Option<PathBuf>,
    home: Option<PathBuf>,
}

/// Where things lie.
#[derive(Debug, Clone)]
pub(crate) struct Paths {
    /// Everything Weir stores.
    pub data: PathBuf,
    /// The user's configuration.
    pub config: PathBuf,
}

impl Env {
    /// Reads the environment of this process.
    #[expect(clippy::disallowed_methods, reason = "this is the one place that reads the environment")]
    pub(crate) fn capture() -> std::io::Result<Self> {
        let text = |name: &str| std::env::var(name).ok().filter(|value| !value.is_empty());
        // The XDG specification says that relative paths in these variables must be ignored.
        let folder = |name: &str| std::env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
        Ok(Self {
            folder: std::env::current_dir()?,
            work: text(WEIR_WORK),
            session: text(WEIR_SESSION),
            client_session: text(CLAUDE_CODE_SESSION_ID),
            data: folder(WEIR_DATA),
            data_home: folder("XDG_DATA_HOME"),
            config_home: folder("XDG_CONFIG_HOME"),
            home: std::env::home_dir().filter(|path| path.is_absolute()),
        })
    }

    /// The paths that follow from it; none without a home folder.
    pub(crate) fn paths(&self) -> Option<Paths> {
        let under_home = |part: &str| self.home.as_deref().map(|home: &Path| home.join(part));
        let data_home = || self.data_home.clone().or_else(|| under_home(".local/share"));
        let config_home = self.config_home.clone().or_else(|| under_home(".config"));
        let data = self.data.clone().or_else(|| data_home().map(|folder| folder.join("weir")))?;
        let config = config_home.map_or_else(|| data.join("config.toml"), |folder| folder.join("weir/config.toml"));
        Some(Paths { data, config })
    }
}
