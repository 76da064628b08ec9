//! Notes that clones share through their repository alone.

use std::os::unix::fs::symlink;
use std::path::PathBuf;

use serde_json::Value;

use crate::support::Home;

/// A repository that everybody pushes to.
struct Hub(tempfile::TempDir);

/// Somebody with a home and a clone of their own.
struct Cloned {
    home: Home,
    name: &'static str,
}

impl Hub {
    fn new() -> Self {
        let hub = Self(tempfile::tempdir().unwrap());
        Home::new().git_in(hub.0.path(), &["init", "-q", "--bare", "-b", "main", "."]);
        hub
    }

    fn clone_of(&self, name: &'static str) -> Cloned {
        let cloned = Cloned { home: Home::new(), name };
        let hub = self.0.path().to_str().unwrap();
        cloned.git(&["init", "-q", "-b", "main", "."]);
        cloned.git(&["config", "user.name", name]);
        cloned.git(&["config", "user.email", "someone@example.invalid"]);
        cloned.git(&["remote", "add", "origin", hub]);
        cloned
    }
}

impl Cloned {
    fn git(&self, arguments: &[&str]) -> String {
        self.home.git_in(&self.home.project(), arguments)
    }

    fn note(&self, text: &str) -> String {
        let kept = self.home.json(&["note", text]);
        kept["reference"].as_str().unwrap().trim_matches(['[', ']']).trim_start_matches("ctx:").to_owned()
    }

    fn share(&self, reference: &str) -> Value {
        self.home.json(&["sync", "--git", "--as", self.name, "--include", reference])
    }

    fn sync(&self) -> Value {
        self.home.json(&["sync", "--git", "--as", self.name])
    }

    fn files(&self) -> Vec<PathBuf> {
        let files = std::fs::read_dir(self.home.project().join(".weir/notes"));
        let files = files.into_iter().flatten().map(|file| file.unwrap().path());
        files.filter(|path| path.extension().is_some_and(|kind| kind == "md")).collect()
    }

    fn commit_and_push(&self) {
        self.git(&["add", "--all"]);
        self.git(&["commit", "-q", "-m", "notes"]);
        self.git(&["push", "-q", "origin", "main"]);
    }

    fn commit(&self) {
        self.git(&["add", "--all"]);
        self.git(&["commit", "-q", "-m", "notes"]);
    }

    fn pull(&self) {
        self.git(&["pull", "-q", "--no-rebase", "--no-edit", "origin", "main"]);
    }

    fn finds(&self, words: &str) -> bool {
        let found = self.home.answer(&["search", words, "--source", "team"]);
        found["queries"][0]["hits"].to_string().contains(words)
    }
}

#[test]
fn clones_share_chosen_notes_through_git_alone() {
    let hub = Hub::new();
    let (ana, ben) = (hub.clone_of("ana"), hub.clone_of("ben"));
    let shared = ana.note("the porcupine cache is flushed by hand");
    ana.note("the walrus token is private");
    assert_eq!(ana.share(&shared)["sent"], 1);
    assert_eq!(ana.files().len(), 1, "only what was named is written");
    let file = std::fs::read_to_string(&ana.files()[0]).unwrap();
    assert!(file.ends_with("-->\n\nthe porcupine cache is flushed by hand\n"), "{file}");
    ana.commit_and_push();
    ben.pull();
    let received = ben.sync();
    assert_eq!(received["received"][0]["user"], "ana");
    assert!(ben.finds("porcupine") && !ben.finds("walrus"));
    // Both write, and a merge takes both.
    ana.share(&ana.note("the ocelot queue is drained at night"));
    ben.share(&ben.note("the badger port is 4711"));
    ana.commit_and_push();
    ben.commit();
    ben.pull();
    ben.git(&["push", "-q", "origin", "main"]);
    ana.pull();
    assert_eq!(ana.sync()["received"].as_array().unwrap().len(), 1);
    assert_eq!(ben.sync()["received"].as_array().unwrap().len(), 1);
    assert!(ana.finds("badger") && ben.finds("ocelot"));
    // Nothing is new now, and nothing is written.
    assert_eq!((ana.sync()["sent"].clone(), ben.sync()["sent"].clone()), (0.into(), 0.into()));
    assert_eq!(ana.git(&["status", "--porcelain"]), "");
}

#[test]
fn what_its_author_has_removed_stays_removed() {
    let hub = Hub::new();
    let (ana, ben) = (hub.clone_of("ana"), hub.clone_of("ben"));
    let shared = ana.note("the porcupine cache is flushed by hand");
    ana.share(&shared);
    ana.commit_and_push();
    ben.pull();
    ben.sync();
    let file = ben.files().remove(0);
    let text = std::fs::read(&file).unwrap();
    let plan = ana.home.json(&["forget", &shared]);
    ana.home.ok(&["forget", &shared, "--confirm", plan["confirm"].as_str().unwrap()]);
    ana.sync();
    assert!(ana.files().is_empty());
    ana.commit_and_push();
    ben.share(&ben.note("the badger port is 4711"));
    ben.commit();
    ben.pull();
    assert_eq!(ben.sync()["removed"][0]["remaining"], 0);
    assert!(!ben.finds("porcupine"));
    // A file that comes back, as by an older branch, is removed again.
    std::fs::write(&file, &text).unwrap();
    assert_eq!(ben.sync()["received"], Value::Array(Vec::new()));
    assert!(!file.exists() && !ben.finds("porcupine"));
    let carl = hub.clone_of("carl");
    ben.git(&["push", "-q", "origin", "main"]);
    carl.pull();
    assert_eq!(carl.sync()["received"].as_array().unwrap().len(), 1);
}

#[test]
fn files_that_were_edited_or_forged_change_nothing() {
    let hub = Hub::new();
    let (ana, ben) = (hub.clone_of("ana"), hub.clone_of("ben"));
    ana.share(&ana.note("the porcupine cache is flushed by hand"));
    ana.commit_and_push();
    ben.pull();
    let file = ben.files().remove(0);
    let text = std::fs::read_to_string(&file).unwrap();
    std::fs::write(&file, text.replace("by hand", "by a script")).unwrap();
    let report = ben.sync();
    assert_eq!((report["unreadable"].clone(), report["received"].clone()), (1.into(), Value::Array(Vec::new())));
    // Somebody writes a removal in the name of ana.
    let id = file.file_stem().unwrap().to_str().unwrap().to_owned();
    let (host, _) = id.rsplit_once('-').unwrap();
    let forged: String = host.chars().map(|char| if char == '0' { '1' } else { '0' }).collect();
    let record = text.lines().next().unwrap().trim_start_matches("<!-- ").trim_end_matches(" -->");
    let mut record: Value = serde_json::from_str(record).unwrap();
    record["id"] = format!("{forged}-0").into();
    record["body"] = serde_json::json!({ "removed": { "record": id, "why": "forgotten" } });
    let path = ana.home.project().join(format!(".weir/notes/{forged}-0.json"));
    std::fs::write(&path, format!("{record}\n")).unwrap();
    ana.sync();
    assert!(ana.home.ok(&["search", "porcupine"]).contains("flushed by hand"), "a note written here was removed");
}

#[test]
fn a_folder_that_leads_out_of_the_project_is_not_written() {
    let hub = Hub::new();
    let ana = hub.clone_of("ana");
    let outside = tempfile::tempdir().unwrap();
    std::fs::create_dir_all(ana.home.project().join(".weir")).unwrap();
    symlink(outside.path(), ana.home.project().join(".weir/notes")).unwrap();
    let reference = ana.note("the porcupine cache is flushed by hand");
    let output = ana.home.weir(&["sync", "--git", "--as", "ana", "--include", &reference]);
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(said.contains("it leads out of the project"), "{said}");
    assert_eq!(std::fs::read_dir(outside.path()).unwrap().count(), 0);
}
