//! Whole stores: backup, restore, export, and adoption by a project that was moved.
#![expect(clippy::disallowed_methods, reason = "a restore is killed after some milliseconds")]

use std::path::{Path, PathBuf};
use std::process::{Output, Stdio};

use serde_json::{Value, json};

use crate::support::{Home, said};

struct Projects(Home);

impl Projects {
    fn new() -> Self {
        let projects = Self(Home::outside_tmp());
        projects.project("first");
        projects
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.at(name)
    }

    fn project(&self, name: &str) -> PathBuf {
        std::fs::create_dir_all(self.path(name)).unwrap();
        self.path(name)
    }

    fn stores(&self) -> PathBuf {
        self.0.data().join("projects")
    }

    /// Returns the folder of a project's store, by the beginning of its name.
    fn store(&self, name: &str) -> PathBuf {
        let mut stores = std::fs::read_dir(self.stores()).unwrap().flatten().map(|entry| entry.path());
        let is_it = |path: &PathBuf| path.file_name().unwrap().to_str().unwrap().starts_with(&format!("{name}-"));
        stores.find(is_it).unwrap_or_else(|| panic!("no store of {name}"))
    }

    fn weir(&self, project: &str, arguments: &[&str]) -> Output {
        self.0.weir_in(&self.path(project), arguments)
    }

    fn ok(&self, project: &str, arguments: &[&str]) -> String {
        let output = self.weir(project, arguments);
        assert!(output.status.success(), "{arguments:?}: {}", said(&output));
        String::from_utf8(output.stdout).unwrap()
    }

    fn fails(&self, project: &str, arguments: &[&str], code: i32) -> String {
        let output = self.weir(project, arguments);
        assert_eq!(output.status.code(), Some(code), "{arguments:?}: {}", said(&output));
        said(&output)
    }

    /// Fills a project with everything: notes, a large and a small output, a binary one, a document, events.
    fn fill(&self, project: &str) {
        self.ok(project, &["note", "Port 7071 is for tests", "--topic", "ports", "--kind", "convention"]);
        self.ok(project, &["note", "Port 7072 is for tests", "--topic", "ports"]);
        self.ok(project, &["run", "echo a small output"]);
        self.ok(project, &["run", "head -c 90000 /dev/urandom | od -An -x"]);
        self.ok(project, &["run", "printf 'binary \\377\\376 output'"]);
        std::fs::write(self.path(project).join("guide.md"), "# Guide\n\nThe tide comes in at noon.\n").unwrap();
        self.ok(project, &["index", "guide.md"]);
        let told = json!({ "cwd": self.path(project), "prompt": "Look into the tide tables" });
        self.0.hook("s", "UserPromptSubmit", &told);
    }

    /// Returns everything in a store, except when and where it was exported.
    fn export(&self, project: &str) -> Vec<Value> {
        let text = self.ok(project, &["export"]);
        text.lines().skip(1).map(|line| serde_json::from_str(line).unwrap()).collect()
    }
}

/// Returns the files of a folder, except the databases' side files, which come and go.
fn files(folder: &Path) -> Vec<PathBuf> {
    let mut all = Vec::new();
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        if entry.path().is_dir() {
            all.extend(files(&entry.path()));
        }
        all.push(entry.path());
    }
    all.sort();
    all
}

#[test]
fn a_backup_is_restored_with_every_byte_also_in_another_folder() {
    let home = Projects::new();
    home.fill("first");
    let before = home.export("first");
    let answer: Value = serde_json::from_str(&home.ok("first", &["backup", "../first.weir", "--json"])).unwrap();
    assert_eq!((&answer["missing"], &answer["owner"]), (&json!([]), &json!("project")));
    let mode = std::os::unix::fs::PermissionsExt::mode(&home.path("first.weir").metadata().unwrap().permissions());
    assert_eq!(mode & 0o777, 0o600);
    assert!(home.fails("first", &["backup", "../first.weir"], 2).contains("it already exists"));

    // Into another project.
    home.project("second");
    home.ok("second", &["restore", "../first.weir"]);
    assert_eq!(home.export("second"), before);
    assert!(home.ok("second", &["search", "tide"]).contains("noon"));
    home.ok("second", &["note", "and it goes on"]);
    home.ok("second", &["doctor"]);

    // Into the original project, after everything was lost.
    std::fs::remove_dir_all(home.store("first")).unwrap();
    home.ok("first", &["restore", "../first.weir"]);
    assert_eq!(home.export("first"), before);
    assert!(files(&home.stores()).iter().all(|path| !path.display().to_string().contains(".making-")));
}

#[test]
fn a_store_that_is_not_empty_is_replaced_only_by_force_and_set_aside_then() {
    let home = Projects::new();
    home.fill("first");
    home.ok("first", &["backup", "../first.weir"]);
    home.ok("first", &["note", "zanzibarism"]);
    let refused = home.fails("first", &["restore", "../first.weir"], 2);
    assert!(refused.contains("it is not empty") && refused.contains("--force"), "{refused}");
    assert!(home.ok("first", &["search", "zanzibarism"]).contains("zanzibarism"));
    let answer = home.ok("first", &["restore", "../first.weir", "--force"]);
    assert!(answer.contains(".replaced-"), "{answer}");
    home.fails("first", &["search", "zanzibarism"], 3);
}

#[test]
fn a_damaged_backup_changes_nothing() {
    let home = Projects::new();
    home.fill("first");
    home.ok("first", &["backup", "../good.weir"]);
    let good = std::fs::read(home.path("good.weir")).unwrap();
    home.project("second");
    home.weir("second", &["history"]);
    let before = files(&home.stores());
    let cut = |at: usize| good[..at].to_vec();
    let flipped = |at: usize| {
        let mut bytes = good.clone();
        bytes[at] ^= 0x55;
        bytes
    };
    let mut cases: Vec<Vec<u8>> = (1..12).map(|part| cut(good.len() * part / 12)).collect();
    cases.extend((1..20).map(|part| flipped(good.len() * part / 20)));
    cases.extend([Vec::new(), cut(good.len() - 1), b"something else entirely".to_vec()]);
    for (number, bytes) in cases.iter().enumerate() {
        std::fs::write(home.path("bad.weir"), bytes).unwrap();
        let said = home.fails("second", &["restore", "../bad.weir"], 1);
        assert!(said.contains("nothing was changed"), "case {number}: {said}");
        assert_eq!(files(&home.stores()), before, "case {number}");
    }
    assert!(home.fails("second", &["restore", "../none.weir"], 3).contains("cannot open"));
}

#[test]
fn a_backup_with_a_file_that_leads_elsewhere_is_refused() {
    let home = Projects::new();
    home.fill("first");
    for name in ["../../escaped", "blobs/../../escaped", "notes.txt"] {
        let mut archive = tar::Builder::new(zstd::Encoder::new(Vec::new(), 1).unwrap());
        let manifest = json!({ "format": "weir-backup", "version": 1, "owner": "project", "texts": 0, "missing": [] });
        for (name, text) in [("weir-backup.json", manifest.to_string()), (name, "x".to_owned())] {
            let mut header = tar::Header::new_old();
            header.set_size(text.len() as u64);
            // The library itself refuses to write such a name.
            header.as_mut_bytes()[..name.len()].copy_from_slice(name.as_bytes());
            header.set_cksum();
            archive.append(&header, text.as_bytes()).unwrap();
        }
        std::fs::write(home.path("evil.weir"), archive.into_inner().unwrap().finish().unwrap()).unwrap();
        home.project("second");
        let said = home.fails("second", &["restore", "../evil.weir"], 1);
        assert!(said.contains("does not belong there"), "{said}");
        assert!(!files(home.0.path()).iter().any(|path| path.ends_with("escaped")));
    }
}

#[test]
fn what_an_interrupted_restore_left_is_removed_by_the_next_and_never_seen() {
    let home = Projects::new();
    home.fill("first");
    home.ok("first", &["backup", "../first.weir"]);
    home.project("second");
    let mut command = home.0.weir_command(&["restore", "../first.weir"]);
    command.current_dir(home.path("second")).stdout(Stdio::null()).stderr(Stdio::null());
    // Killed at any moment, the store is complete or missing.
    for delay in [0, 5, 10, 20, 40, 80] {
        let mut child = command.spawn().unwrap();
        std::thread::sleep(std::time::Duration::from_millis(delay));
        child.kill().unwrap();
        child.wait().unwrap();
        let kept = home.export("second").len();
        assert!(kept == 0 || kept == home.export("first").len(), "{kept} after {delay} ms");
    }
    home.ok("second", &["restore", "../first.weir", "--force"]);
    assert_eq!(home.export("second"), home.export("first"));
    assert!(files(&home.stores()).iter().all(|path| !path.display().to_string().contains(".making-")));
}

#[test]
fn a_backup_of_the_user_store_is_restored_as_that() {
    let home = Projects::new();
    home.ok("first", &["note", "I prefer small commits", "--scope", "user"]);
    home.ok("first", &["backup", "--user", "../user.weir"]);
    std::fs::remove_dir_all(home.path(".local/share/weir")).unwrap();
    home.ok("first", &["restore", "../user.weir"]);
    assert!(home.ok("first", &["search", "small commits"]).contains("I prefer small commits"));
}

#[test]
fn an_export_has_every_entry_with_its_text_and_every_event() {
    let home = Projects::new();
    home.fill("first");
    let lines = home.export("first");
    let of = |kind: &str| -> Vec<&Value> { lines.iter().filter(|line| line["kind"] == kind).collect() };
    let notes = of("note");
    assert_eq!((notes.len(), &notes[0]["text"]), (2, &json!("Port 7071 is for tests")));
    assert_eq!(notes[0]["note"]["superseded_by"], notes[1]["reference"]);
    assert_eq!(of("document")[0]["text"], "# Guide\n\nThe tide comes in at noon.\n");
    assert_eq!(of("prompt")[0]["text"], "Look into the tide tables");
    let binary: Vec<&Value> = lines.iter().filter(|line| line["text_hex"].is_string()).collect();
    assert_eq!(binary[0]["text_hex"], "62696e61727920fffe206f7574707574");
    for run in of("run").iter().filter(|run| run["text"].is_string()) {
        let raw = home.ok("first", &["get", run["reference"].as_str().unwrap(), "--raw"]);
        assert_eq!(run["text"], raw);
        assert_eq!(run["run"]["exit_code"], 0);
    }
    // The same to a file, which is not overwritten.
    home.ok("first", &["export", "../first.jsonl"]);
    assert_eq!(std::fs::read_to_string(home.path("first.jsonl")).unwrap().lines().count(), lines.len() + 1);
    home.fails("first", &["export", "../first.jsonl"], 2);
    home.ok("first", &["export", "../first.jsonl", "--force"]);
    let listed = std::fs::read_dir(home.path("")).unwrap().map(|file| file.unwrap().file_name());
    let left: Vec<_> = listed.filter(|name| name.to_string_lossy().starts_with(".first")).collect();
    assert!(left.is_empty(), "{left:?}");
}

#[test]
fn a_project_that_was_moved_finds_its_store_again() {
    let home = Projects::new();
    home.fill("first");
    let before = home.export("first");
    std::fs::rename(home.path("first"), home.path("renamed")).unwrap();
    let empty = said(&home.weir("renamed", &["history"]));
    assert!(empty.contains(&format!("weir adopt {}", home.path("first").display())), "{empty}");
    let nothing = said(&home.weir("renamed", &["search", "tide"]));
    assert!(nothing.contains("weir adopt "), "{nothing}");
    let doctor = said(&home.weir("renamed", &["doctor"]));
    assert!(doctor.contains("weir adopt "), "{doctor}");
    home.ok("renamed", &["adopt", "../first"]);
    assert_eq!(home.export("renamed"), before);
    assert!(home.ok("renamed", &["search", "tide"]).contains("noon"));
    home.ok("renamed", &["doctor"]);
    // A folder that is later created at the old path is another project.
    home.project("first");
    assert_eq!(home.export("first"), Vec::<Value>::new());
    assert!(home.fails("first", &["adopt", "../nowhere"], 3).contains("no known project"));
}

#[test]
fn a_project_that_is_still_there_keeps_its_store() {
    let home = Projects::new();
    home.fill("first");
    home.project("second");
    assert!(home.fails("second", &["adopt", "../first"], 2).contains("still there"));
    std::fs::rename(home.path("first"), home.path("third")).unwrap();
    home.ok("second", &["note", "something of its own"]);
    assert!(home.fails("second", &["adopt", "../first"], 2).contains("it is not empty"));
    home.ok("third", &["adopt", "../first"]);
    assert!(home.ok("third", &["search", "tide"]).contains("noon"));
}

#[test]
fn a_repository_with_work_trees_is_adopted_as_one() {
    let home = Projects::new();
    let git = |folder: &Path, arguments: &[&str]| home.0.git_in(folder, arguments);
    let repository = home.project("repository");
    git(&repository, &["init", "-q"]);
    git(&repository, &["commit", "-q", "--allow-empty", "-m", "first"]);
    git(&repository, &["worktree", "add", "-q", "../tree"]);
    home.ok("tree", &["note", "Kept from the work tree"]);
    git(&repository, &["worktree", "remove", "../tree"]);
    std::fs::rename(&repository, home.path("moved")).unwrap();
    let empty = said(&home.weir("moved", &["history"]));
    assert!(empty.contains("weir adopt"), "{empty}");
    home.ok("moved", &["adopt", "../repository"]);
    assert!(home.ok("moved", &["search", "work tree"]).contains("Kept from the work tree"));
    git(&home.path("moved"), &["worktree", "add", "-q", "../other"]);
    assert!(home.ok("other", &["search", "work tree"]).contains("Kept from the work tree"));
}
