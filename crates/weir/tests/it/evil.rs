//! Hostile repositories: each arrives like a real one, by `git clone` or from an archive, and every entry point of the
//! program is tried on it.
//!
//! A case is an entry in one of the lists: how the repository arrives, and what it contains. In every case, nothing
//! hangs, memory stays bounded, nothing outside the project is read or written, and nothing is permitted that would not
//! be permitted without the repository.
#![expect(clippy::disallowed_methods, reason = "the tests start the program")]

mod git;
mod ignores;
mod names;
mod settings;
mod trees;
mod words;
mod world;

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::symlink;
use std::path::Path;

use world::HostileRepository;

/// How a repository reaches the machine.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ArrivalMethod {
    /// By `git clone`: only files, links and their names.
    Clone,
    /// From an archive: also pipes, devices, sparse files and its own `.git`.
    Archive,
}

struct Case {
    name: &'static str,
    arrives: ArrivalMethod,
    make: fn(&Path),
    /// Part of the question that a run asks because of the repository. If `None`, the run is allowed.
    asks: Option<&'static str>,
}

const fn clone(name: &'static str, make: fn(&Path)) -> Case {
    Case { name, arrives: ArrivalMethod::Clone, make, asks: None }
}

const fn archive(name: &'static str, make: fn(&Path)) -> Case {
    Case { name, arrives: ArrivalMethod::Archive, make, asks: None }
}

impl Case {
    const fn asks(self, why: &'static str) -> Self {
        Self { asks: Some(why), ..self }
    }
}

/// Tries every entry point on each case.
fn check(cases: &[Case]) {
    for case in cases {
        let evil = HostileRepository::arrive(case);
        evil.meets_the_command_line();
        evil.meets_hooks();
        evil.meets_the_server();
        evil.left_the_rest_alone();
    }
}

fn put(top: &Path, name: impl AsRef<OsStr>, bytes: impl AsRef<[u8]>) {
    let path = top.join(Path::new(name.as_ref()));
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(path, bytes).unwrap();
}

fn link(top: &Path, name: &str, target: &str) {
    let path = top.join(name);
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    symlink(target, path).unwrap();
}

fn pipe(top: &Path, name: &str) {
    let path = top.join(name);
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    let (kind, mode) = (rustix::fs::FileType::Fifo, rustix::fs::Mode::from_raw_mode(0o644));
    rustix::fs::mknodat(rustix::fs::CWD, path, kind, mode, 0).unwrap();
}

fn bytes(name: &[u8]) -> &OsStr {
    OsStr::from_bytes(name)
}
