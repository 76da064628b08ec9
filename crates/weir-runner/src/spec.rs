//! The description of a run: what to start, what it may see and what it may change.

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use crate::{Input, Listener, OVERLAY_STEP, Problem, Ready, RunError, Stopper};

/// The strength of a run's sandbox.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Level {
    /// Namespaces, a read-only view with masks, Landlock and a system call filter.
    Full,
    /// Landlock and the filter only, for systems without namespaces.
    Landlock,
    /// A profile for `sandbox-exec`, on macOS.
    Seatbelt,
    /// No sandbox. All descendants of the run are still ended with it.
    None,
}

impl Level {
    /// Returns the name used in answers and in the store.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Full => "full",
            Self::Landlock => "landlock",
            Self::Seatbelt => "seatbelt",
            Self::None => "none",
        }
    }
}

/// The network access of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Network {
    /// A private loopback interface and nothing else.
    Off,
    /// The same, plus listeners served from the host: the proxy to allowed hosts and the broker.
    Listeners,
    Host,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Streams {
    /// Through one pipe: the order between standard output and standard error is exact.
    Merged,
    /// Through one pipe each: the streams are distinguishable, and the order between them is that of arrival.
    Apart,
}

/// Resource limits of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Caps {
    /// Maximum number of processes and threads at once.
    pub processes: u64,
    pub file_bytes: u64,
    /// Maximum size of the private `/tmp`.
    pub tmp_bytes: u64,
    /// Maximum number of files and folders in the private `/tmp`, which the kernel keeps in memory.
    pub tmp_files: u64,
    /// Maximum memory of all its processes together.
    pub memory_bytes: u64,
}

impl Default for Caps {
    fn default() -> Self {
        Self { processes: 4096, file_bytes: 2 << 30, tmp_bytes: 2 << 30, tmp_files: 1 << 18, memory_bytes: 8 << 30 }
    }
}

/// A folder that a run sees as its own, while what it changes there goes to another folder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Overlay {
    /// The folder, which the run does not change.
    pub lower: PathBuf,
    /// The folder for what the run writes, empty and on a file system that is not an overlay itself.
    pub upper: PathBuf,
    /// An empty folder next to `upper`, for the kernel.
    pub work: PathBuf,
}

/// What to start, what it may see and what it may change. Paths are absolute and free of symbolic links.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Spec {
    pub level: Level,
    pub network: Network,
    /// Programs with their arguments, run in sequence; the first that fails ends the run.
    pub steps: Vec<Vec<OsString>>,
    pub environment: Vec<(OsString, OsString)>,
    pub folder: PathBuf,
    /// Files to create first, in the private `/tmp`.
    pub files: Vec<(PathBuf, Vec<u8>)>,
    /// Folders the run may change.
    pub writable: Vec<PathBuf>,
    /// One of the writable folders whose changes go elsewhere. Only the full level can do this.
    pub overlay: Option<Overlay>,
    /// Folders in which only visible and writable paths can be seen.
    pub covered: Vec<PathBuf>,
    /// Paths that stay visible inside a covered folder, or below `/tmp`, `/run` or `/dev`, which are private.
    pub visible: Vec<PathBuf>,
    /// Symbolic links to create in covered folders, with their targets.
    pub links: Vec<(PathBuf, PathBuf)>,
    /// Paths below the writable folders that must not change.
    pub read_only: Vec<PathBuf>,
    /// Paths the run may not read.
    pub hidden: Vec<PathBuf>,
    /// Programs the run may not start.
    pub programs: Vec<PathBuf>,
    /// The scratch folder to remove after the run, if `/tmp` is not private.
    pub scratch: Option<PathBuf>,
    pub caps: Caps,
}

impl Spec {
    /// Describes a run of one program that may change nothing and from which nothing is hidden. Override other fields
    /// with `..Spec::new(…)`.
    pub fn new(level: Level, program: Vec<OsString>, folder: impl Into<PathBuf>) -> Self {
        Self {
            level,
            network: Network::Off,
            steps: vec![program],
            environment: Vec::new(),
            folder: folder.into(),
            files: Vec::new(),
            writable: Vec::new(),
            overlay: None,
            covered: Vec::new(),
            visible: Vec::new(),
            links: Vec::new(),
            read_only: Vec::new(),
            hidden: Vec::new(),
            programs: Vec::new(),
            scratch: None,
            caps: Caps::default(),
        }
    }

    /// Refuses an overlay at a level that has none: the run would change the folder itself.
    pub(crate) fn check_overlay(&self) -> Result<(), RunError> {
        if self.overlay.is_none() || self.level == Level::Full {
            return Ok(());
        }
        let (step, why) = (OVERLAY_STEP.to_owned(), "only the full sandbox can do this".to_owned());
        Err(RunError::Sandbox(Problem { step, why, refused: true }))
    }
}

pub struct Run<'a> {
    /// What to start and what it may do.
    pub spec: &'a Spec,
    /// Path of the program that acts as the helper when started with [`crate::HELPER`], usually `/proc/self/exe`. Only
    /// Linux has helpers, and listeners inside the sandbox.
    pub helper: PathBuf,
    /// Time after which the run is ended.
    pub timeout: Duration,
    /// Maximum number of bytes the run may print.
    pub most_output: u64,
    pub streams: Streams,
    /// The standard input. Without one it is empty. The run can do with it what the descriptor allows, so it must not
    /// be a folder, which would lead out of the sandbox, nor open for writing. Only Linux connects it.
    pub input: Option<&'a Input>,
    pub stopper: &'a Stopper,
    /// A helper that was started ahead of time, if there is one.
    pub ready: Option<Ready>,
    /// Called with the listeners inside the sandbox, if it has any. The returned value is dropped after the run.
    pub serve: Option<Listeners<'a>>,
}

/// Serves the listeners that were opened inside the sandbox: the proxy's, then the broker's.
pub type Listeners<'a> = &'a dyn Fn(Vec<Listener>) -> Box<dyn std::any::Any>;
