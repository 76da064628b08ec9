//! A home with a project whose store has many entries, and the servers that are started in it.

use std::io::{BufRead as _, BufReader, Write as _};
use std::net::SocketAddr;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};

use rusqlite::Connection as Database;
use tempfile::TempDir;
use weir_core::{EntryKind, Level, Limits, NewEntry, Origin, ProjectKey, Scope, Timestamp};
use weir_store::{Owner, Store};

use crate::text::paragraph;

/// How many entries are a run's output; the others are files.
const RUN_EVERY: u64 = 4;

pub(super) struct Home {
    weir: String,
    folder: TempDir,
    pub(super) store: PathBuf,
    pub(super) owner: Owner,
}

pub(super) struct Running(Child);

impl Home {
    pub(super) fn filled(weir: &str, entries: u64) -> Self {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir(folder.path().join("project")).unwrap();
        let owner = Owner::Project(ProjectKey(String::new()));
        let mut home = Self { weir: weir.to_owned(), store: PathBuf::new(), owner, folder };
        assert!(home.command(&["note", "the first note of the project"]).status().unwrap().success());
        let mut stores = std::fs::read_dir(home.folder.path().join("data/projects")).unwrap();
        home.store = stores.next().unwrap().unwrap().path();
        let log = Database::open(home.store.join("log.db")).unwrap();
        let key = log.query_row("SELECT key FROM owner", [], |row| row.get(0)).unwrap();
        home.owner = Owner::Project(ProjectKey(key));
        home.fill(entries);
        home
    }

    fn fill(&self, entries: u64) {
        let Owner::Project(key) = &self.owner else { return };
        let mut store = Store::open(&self.store, self.owner.clone(), Limits::default()).unwrap();
        let scope = Scope::project(key.clone());
        let start = Timestamp(1_790_000_000_000);
        for number in 0..entries {
            if number % 10_000 == 0 {
                print!("\rentries: {number}");
                std::io::stdout().flush().unwrap();
            }
            let kind = if number % RUN_EVERY == 0 { EntryKind::Run } else { EntryKind::File };
            let text = paragraph(number).into_bytes();
            let entry =
                NewEntry { text, ..NewEntry::new(kind, Origin::Tool, Level::Project, format!("entry {number}")) };
            store.keep(&scope, entry, Timestamp(start.0 + number as i64 * 1_000)).unwrap();
        }
        while store.catch_up().unwrap() > 0 {}
        println!("\rentries: {entries}");
    }

    pub(super) fn token(&self) -> String {
        let output = self.command(&["serve", "--print-token", "--scope", "write"]).output().unwrap();
        String::from_utf8(output.stdout).unwrap().trim().to_owned()
    }

    /// Starts a server and waits for the line with its address.
    pub(super) fn start(&self, arguments: &[&str]) -> (Running, SocketAddr) {
        let (running, line) = self.start_and_read(arguments);
        let (_, rest) = line.split_once("http://").unwrap_or_else(|| panic!("no address: {line}"));
        let address = rest.split(['/', ' ', ',', '\n']).next().unwrap();
        (running, address.parse().unwrap())
    }

    /// Starts a server, and returns the first line that has an address.
    pub(super) fn start_and_read(&self, arguments: &[&str]) -> (Running, String) {
        let mut process = self.command(arguments).stderr(Stdio::piped()).spawn().unwrap();
        let mut output = BufReader::new(process.stderr.take().unwrap());
        let mut line = String::new();
        while !line.contains("http://") {
            line.clear();
            assert!(output.read_line(&mut line).unwrap() > 0, "the server ended");
        }
        std::thread::spawn(move || std::io::copy(&mut output, &mut std::io::sink()));
        (Running(process), line)
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(&self.weir);
        command
            .args(arguments)
            .current_dir(self.folder.path().join("project"))
            .env("WEIR_DATA", self.folder.path().join("data"))
            .env("HOME", self.folder.path())
            .env_remove("XDG_CONFIG_HOME")
            .env_remove("XDG_CACHE_HOME")
            .stdin(Stdio::null());
        command
    }
}

impl Running {
    pub(super) fn end(mut self) {
        self.0.kill().unwrap();
        self.0.wait().unwrap();
    }
}
