//! The description of a run: what to start, what it may see and what it may change.

use std::ffi::OsString;
use std::io;
use std::path::PathBuf;

use crate::codec::{Reader, Writer};

/// The strength of a run's sandbox.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Level {
    /// Namespaces, a read-only view with masks, Landlock and a system call filter.
    Full,
    /// Landlock and the filter only, for systems without namespaces.
    Landlock,
    /// No sandbox. All descendants of the run are still ended with it.
    None,
}

impl Level {
    /// Returns the name used in answers and in the store.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Full => "full",
            Self::Landlock => "landlock",
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
    /// The host's network.
    Host,
}

/// How output is captured.
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
    /// Maximum size of one file.
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

/// The isolation of a helper, chosen when it is started, before it knows its spec.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Isolation {
    /// Namespaces of every kind.
    Namespaces,
    /// The same, but with the host's network.
    HostNetwork,
    /// No namespaces.
    Bare,
}

impl Isolation {
    pub(crate) const ALL: [Self; 3] = [Self::Namespaces, Self::HostNetwork, Self::Bare];

    /// Returns the helper's command-line argument for this isolation.
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::Namespaces => "namespaces",
            Self::HostNetwork => "host-network",
            Self::Bare => "bare",
        }
    }
}

/// What to start, what it may see and what it may change. Paths are absolute and free of symbolic links.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Spec {
    /// The sandbox level.
    pub level: Level,
    /// The network access.
    pub network: Network,
    /// Programs with their arguments, run in sequence; the first that fails ends the run.
    pub steps: Vec<Vec<OsString>>,
    /// The complete environment.
    pub environment: Vec<(OsString, OsString)>,
    /// The working folder.
    pub folder: PathBuf,
    /// Files to create first, in the private `/tmp`.
    pub files: Vec<(PathBuf, Vec<u8>)>,
    /// Folders the run may change.
    pub writable: Vec<PathBuf>,
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
    /// The resource limits.
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

    /// Returns the isolation that the helper needs.
    pub(crate) fn isolation(&self) -> Isolation {
        match (self.level, self.network) {
            (Level::Full, Network::Host) => Isolation::HostNetwork,
            (Level::Full, _) => Isolation::Namespaces,
            _ => Isolation::Bare,
        }
    }

    /// Encodes the spec together with the compiled system call filter.
    pub(crate) fn encode(&self, filter: &[u8]) -> Vec<u8> {
        let mut out = Writer::default();
        out.number(match self.level {
            Level::Full => 0,
            Level::Landlock => 1,
            Level::None => 2,
        });
        out.number(match self.network {
            Network::Off => 0,
            Network::Listeners => 1,
            Network::Host => 2,
        });
        out.number(self.steps.len() as u64);
        self.steps.iter().for_each(|step| out.list(step));
        let (names, values): (Vec<_>, Vec<_>) = self.environment.iter().map(|(name, value)| (name, value)).unzip();
        out.list(&names);
        out.list(&values);
        out.list(&[&self.folder]);
        out.number(self.files.len() as u64);
        for (path, bytes) in &self.files {
            out.list(&[path]);
            out.bytes(bytes);
        }
        let (links, targets): (Vec<_>, Vec<_>) = self.links.iter().cloned().unzip();
        let Self { writable, covered, visible, read_only, hidden, programs, .. } = self;
        for paths in [writable, covered, visible, &links, &targets, read_only, hidden, programs] {
            out.list(paths);
        }
        out.list(self.scratch.as_slice());
        let Caps { processes, file_bytes, tmp_bytes, tmp_files, memory_bytes } = self.caps;
        [processes, file_bytes, tmp_bytes, tmp_files, memory_bytes].into_iter().for_each(|cap| out.number(cap));
        out.bytes(filter);
        out.0
    }

    /// Decodes the spec and the filter from the output of [`Self::encode`].
    pub(crate) fn decode(bytes: &[u8]) -> io::Result<(Self, Vec<u8>)> {
        let mut from = Reader(bytes);
        let level = match from.number()? {
            0 => Level::Full,
            1 => Level::Landlock,
            _ => Level::None,
        };
        let network = match from.number()? {
            0 => Network::Off,
            1 => Network::Listeners,
            _ => Network::Host,
        };
        let steps = (0..from.number()?).map(|_| from.list()).collect::<io::Result<_>>()?;
        let names = from.list()?;
        let environment = names.into_iter().zip(from.list()?).collect();
        let folder = from.paths()?.pop().unwrap_or_default();
        let file = |from: &mut Reader<'_>| -> io::Result<_> {
            Ok((from.paths()?.pop().unwrap_or_default(), from.bytes()?.to_vec()))
        };
        let files = (0..from.number()?).map(|_| file(&mut from)).collect::<io::Result<_>>()?;
        let spec = Self {
            level,
            network,
            steps,
            environment,
            folder,
            files,
            writable: from.paths()?,
            covered: from.paths()?,
            visible: from.paths()?,
            links: from.paths()?.into_iter().zip(from.paths()?).collect(),
            read_only: from.paths()?,
            hidden: from.paths()?,
            programs: from.paths()?,
            scratch: from.paths()?.pop(),
            caps: Caps {
                processes: from.number()?,
                file_bytes: from.number()?,
                tmp_bytes: from.number()?,
                tmp_files: from.number()?,
                memory_bytes: from.number()?,
            },
        };
        Ok((spec, from.bytes()?.to_vec()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_spec_comes_back_as_it_went() {
        let spec = Spec {
            level: Level::Landlock,
            network: Network::Listeners,
            steps: vec![vec!["/bin/sh".into(), "-c".into(), "echo".into()], vec!["true".into()]],
            environment: vec![("A".into(), "b=c".into()), ("B".into(), "".into())],
            folder: "/made/up".into(),
            files: vec![("/tmp/a".into(), b"\xff\0b".to_vec()), ("/tmp/b".into(), Vec::new())],
            writable: vec!["/made/up".into()],
            covered: vec!["/home".into()],
            visible: vec!["/home/.cargo".into()],
            links: vec![("/home/.go".into(), "go".into())],
            read_only: vec!["/made/up/.git".into()],
            hidden: vec!["/home/.ssh".into(), "/made/up/.env".into()],
            programs: vec!["/usr/bin/sudo".into()],
            scratch: Some("/tmp/s".into()),
            caps: Caps::default(),
        };
        let (back, filter) = Spec::decode(&spec.encode(b"filter")).unwrap();
        assert_eq!((back, filter), (spec.clone(), b"filter".to_vec()));
        let whole = spec.encode(b"filter");
        assert!((0..whole.len()).all(|cut| Spec::decode(&whole[..cut]).is_err()));
    }
}
