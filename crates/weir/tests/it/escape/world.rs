//! A miniature machine for one test: a home with secrets, a project in it, and the program, all owned by the user that
//! the test is about.

use std::fs;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, lchown, symlink};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Output, Stdio};

use serde_json::Value;
use tempfile::TempDir;

use super::Probe;
use crate::support::parsed;

/// The unprivileged user, if the tests run as root.
const NOBODY: u32 = 65534;

/// The files of the home folder, and of the project below it.
const FILES: &[(&str, &str)] = &[
    (".bashrc", "# shell\n"),
    (".ssh/id_ed25519", "hidden-ssh-key\n"),
    (".aws/credentials", "hidden-cloud-key\n"),
    ("outside.txt", "outside\n"),
    ("unnamed.txt", "hidden-at-home\n"),
    (".config/weir/config.toml", ""),
    ("project/.env", "NAME=hidden-env\n"),
    ("project/secret.txt", "hidden-by-rule\n"),
    ("project/conf/secret.txt", "hidden-by-rule\n"),
    ("project/plain.txt", "plain\n"),
    ("project/out/results", ""),
    ("project/.git/HEAD", "ref: refs/heads/main\n"),
    ("project/.git/config", "[core]\n\tbare = false\n"),
    ("project/.git/hooks/post-commit", "#!/bin/sh\n"),
    ("project/.git/objects/info/packs", ""),
    ("project/.git/refs/heads/.keep", ""),
];

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum User {
    /// Unprivileged: the user who runs the tests, or `nobody` if that is root.
    Plain,
    Root,
}

/// The environment in which the program is started.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Machine {
    Whole,
    /// A machine on which no user namespace can be created.
    WithoutNamespaces,
    /// Behind the filter of `container.c`, which gets these names.
    Container(&'static [&'static str]),
}

/// A miniature machine. It is removed on drop.
pub(super) struct World {
    folder: TempDir,
    user: User,
    machine: Machine,
}

impl World {
    /// Returns `None` if root is required but the tests do not run as root.
    pub(super) fn new(user: User) -> Option<Self> {
        if user == User::Root && !is_root() {
            return None;
        }
        // Not below /tmp, which is private to a run: on most machines, a home is elsewhere.
        let folder = tempfile::Builder::new().prefix("weir-escape-").tempdir_in("/var/tmp").unwrap();
        fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o755)).unwrap();
        let world = Self { folder, user, machine: Machine::Whole };
        for (path, text) in FILES {
            let path = world.home().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        symlink("../.ssh/id_ed25519", world.project().join("key")).unwrap();
        symlink("../.bashrc", world.project().join("rc")).unwrap();
        let program = Path::new(env!("CARGO_BIN_EXE_weir"));
        // A hard link if possible, since a copy of a debug build is large.
        fs::hard_link(program, world.program()).or_else(|_| fs::copy(program, world.program()).map(drop)).unwrap();
        world.configure("");
        world.own_all();
        Some(world)
    }

    pub(super) fn without_namespaces(user: User) -> Option<Self> {
        let mut world = Self::new(user)?;
        world.machine = Machine::WithoutNamespaces;
        Some(world)
    }

    /// Returns a world in a container that denies some system calls.
    pub(super) fn in_container(user: User, names: &'static [&'static str]) -> Option<Self> {
        let mut world = Self::new(user)?;
        compile("container.c", &world.container());
        world.machine = Machine::Container(names);
        Some(world)
    }

    fn container(&self) -> PathBuf {
        self.folder.path().join("container")
    }

    pub(super) fn home(&self) -> PathBuf {
        self.folder.path().join("home")
    }

    pub(super) fn project(&self) -> PathBuf {
        self.home().join("project")
    }

    fn program(&self) -> PathBuf {
        self.folder.path().join("weir")
    }

    /// Writes the configuration: these lines, the files outside that are visible, and the rules that the table refers
    /// to.
    pub(super) fn configure(&self, lines: &str) {
        const SEEN: &str = "[run]\nreadable = [\"~/.bashrc\", \"~/outside.txt\"]";
        let lines = match lines.contains("[run]") {
            true => lines.replace("[run]", SEEN),
            false => format!("{lines}\n{SEEN}"),
        };
        let rules = "[policy]\ndeny = [\"Read(./secret.txt)\", \"Read(./conf/secret.txt)\", \"Bash(sudo *)\"]\n";
        self.configure_wholly(&format!("{lines}\n{rules}"));
    }

    pub(super) fn configure_wholly(&self, text: &str) {
        fs::write(self.home().join(".config/weir/config.toml"), text).unwrap();
    }

    pub(super) fn write(&self, path: &str, text: &str) {
        let path = self.home().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
        self.own_all();
    }

    pub(super) fn own_all(&self) {
        if is_root() && self.user == User::Plain {
            // Root keeps the program, as with an installed one.
            give(&self.home(), NOBODY);
            lchown(self.folder.path(), Some(NOBODY), Some(NOBODY)).unwrap();
        }
    }

    /// Returns a command started by the user, with a secret in its environment and an extra file descriptor.
    pub(super) fn command(&self, words: &[&str]) -> Command {
        let mut all: Vec<&str> = Vec::new();
        let container = self.container();
        if is_root() && self.user == User::Plain {
            all.extend(["setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups", "--"]);
        }
        if self.machine == Machine::WithoutNamespaces {
            const CLOSE: &str = "echo 0 > /proc/sys/user/max_user_namespaces && \
                                 exec setpriv --inh-caps=-all --ambient-caps=-all -- \"$@\"";
            all.extend(["unshare", "--user", "--map-current-user", "--keep-caps", "sh", "-c", CLOSE, "sh"]);
        }
        if let Machine::Container(names) = self.machine {
            all.push(container.to_str().unwrap());
            all.extend(names);
            all.push("--");
        }
        all.extend(["bash", "-c", "exec 77< /etc/passwd; exec \"$@\"", "bash"]);
        all.extend(words);
        let mut command = Command::new(all[0]);
        command.args(&all[1..]).current_dir(self.project()).stdin(Stdio::null());
        command
            .env_clear()
            .env("HOME", self.home())
            .env("PATH", "/usr/bin:/bin")
            .env("SECRET_TOKEN", "hidden-variable");
        command.env("LD_PRELOAD", "").env("BASH_ENV", "");
        command
    }

    pub(super) fn weir(&self, arguments: &[&str]) -> Command {
        let program = self.program();
        self.command(&[&[program.to_str().unwrap()], arguments].concat())
    }

    /// Runs shell code and waits for its end.
    pub(super) fn output(&self, code: &str) -> Output {
        self.weir(&["run", "--json", code]).output().unwrap()
    }

    /// Runs shell code, which must not be refused, and returns the answer.
    pub(super) fn run(&self, code: &str) -> Value {
        parsed(&self.output(code))
    }

    /// Compiles a probe to where the run can start it.
    pub(super) fn compile(&self, source: &str) {
        compile(source, &self.project().join("out/probe"));
        self.own_all();
    }

    /// Runs a probe, which must be in a sandbox of this level. Returns the names of its attempts and their outcomes.
    pub(super) fn probe(&self, probe: &Probe, level: &str) -> Vec<(String, String)> {
        self.compile(probe.source);
        let (home, project) = (self.home(), self.project());
        let mut words = vec![home.to_str().unwrap().to_owned(), project.to_str().unwrap().to_owned()];
        let told = (probe.told)(self);
        words.extend(told.words.iter().cloned());
        // Not to standard output, of which an answer shows only a part.
        let answer = self.run(&format!("exec out/probe {} > out/results", words.join(" ")));
        assert_eq!((&answer["sandbox"], &answer["exit_code"]), (&level.into(), &0.into()), "{answer}");
        let said = fs::read_to_string(self.project().join("out/results")).unwrap();
        said.lines().map(|line| line.split_once('\t').unwrap()).map(|(a, b)| (a.to_owned(), b.to_owned())).collect()
    }

    /// Starts a process of the same user outside, with a secret in its environment.
    pub(super) fn victim(&self) -> Victim {
        let mut process = self.command(&["cat"]).stdin(Stdio::piped()).stdout(Stdio::null()).spawn().unwrap();
        let input = process.stdin.take();
        Victim { process, _input: input }
    }
}

impl Drop for World {
    /// Restores access to folders that a run has closed, so that they can be removed.
    fn drop(&mut self) {
        let _ = Command::new("chmod").args(["-R", "u+rwX"]).arg(self.home()).stderr(Stdio::null()).status();
    }
}

fn compile(source: &str, to: &Path) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/escape/probes");
    let mut compiler = Command::new("cc");
    compiler.args(["-O1", "-Wall", "-Wno-unused-function", "-Wno-unused-result", "-o"]).arg(to);
    let made = compiler.arg(folder.join(source)).arg("-lutil").output();
    let made = made.expect("the suite needs a C compiler named `cc`");
    assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
}

/// A process that ends with the test.
pub(super) struct Victim {
    process: Child,
    _input: Option<ChildStdin>,
}

impl Victim {
    pub(super) fn pid(&self) -> u32 {
        self.process.id()
    }
}

impl Drop for Victim {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

pub(super) fn is_root() -> bool {
    fs::metadata("/proc/self").unwrap().uid() == 0
}

#[expect(clippy::print_stderr, reason = "what is skipped is said")]
pub(super) fn announce_skip() {
    eprintln!("not run as root: this half is left out");
}

fn give(path: &Path, user: u32) {
    lchown(path, Some(user), Some(user)).unwrap();
    if fs::symlink_metadata(path).unwrap().is_dir() {
        fs::read_dir(path).unwrap().for_each(|entry| give(&entry.unwrap().path(), user));
    }
}
