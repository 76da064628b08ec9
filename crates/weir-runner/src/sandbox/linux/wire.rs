//! The spec as the helper gets it, and the isolation that it is started with.

use std::io;

use crate::codec::{Reader, Writer};
use crate::{Caps, Level, Network, Overlay, Spec};

/// The isolation of a helper, chosen when it is started, before it knows its spec.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Isolation {
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

impl Spec {
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
            Level::Seatbelt => 3,
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
        let overlay = self.overlay.iter().flat_map(|Overlay { lower, upper, work }| [lower, upper, work]);
        out.list(&overlay.collect::<Vec<_>>());
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
            2 => Level::None,
            _ => Level::Seatbelt,
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
            overlay: <[_; 3]>::try_from(from.paths()?).ok().map(|[lower, upper, work]| Overlay { lower, upper, work }),
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
            overlay: Some(Overlay { lower: "/made/up".into(), upper: "/up".into(), work: "/work".into() }),
            caps: Caps::default(),
        };
        let (back, filter) = Spec::decode(&spec.encode(b"filter")).unwrap();
        assert_eq!((back, filter), (spec.clone(), b"filter".to_vec()));
        let whole = spec.encode(b"filter");
        assert!((0..whole.len()).all(|cut| Spec::decode(&whole[..cut]).is_err()));
    }
}
