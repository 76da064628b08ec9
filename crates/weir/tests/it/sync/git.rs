//! Notes that clones share through their repository alone.

use std::os::unix::fs::symlink;
use std::path::PathBuf;

use serde_json::{Value, json};

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

    fn commit(&self) {
        self.git(&["add", "--all"]);
        self.git(&["commit", "-q", "-m", "notes"]);
    }

    fn push(&self) {
        self.git(&["push", "-q", "origin", "main"]);
    }

    fn commit_and_push(&self) {
        self.commit();
        self.push();
    }

    /// Writes a record as a file, as anybody can who commits.
    fn forge(&self, record: &Value, text: Option<&str>) {
        let (id, json) = (record["id"].as_str().unwrap(), record.to_string());
        let (kind, content) = match text {
            Some(text) => ("md", format!("<!-- {json} -->\n\n{text}\n")),
            None => ("json", format!("{json}\n")),
        };
        std::fs::write(self.home.project().join(format!(".weir/notes/{id}.{kind}")), content).unwrap();
    }

    fn pull(&self) {
        self.git(&["pull", "-q", "--no-rebase", "--no-edit", "origin", "main"]);
    }

    fn finds(&self, words: &str) -> bool {
        let found = self.home.answer(&["search", words, "--source", "team"]);
        found["queries"][0]["hits"].to_string().contains(words)
    }
}

fn record_in(content: &str) -> Value {
    let record = content.lines().next().unwrap().trim_start_matches("<!-- ").trim_end_matches(" -->");
    serde_json::from_str(record).unwrap()
}

/// Returns the id of a record of a host that has written nothing else.
fn id_of_another_host(record: &Value, index: u64) -> String {
    let (host, _) = record["id"].as_str().unwrap().rsplit_once('-').unwrap();
    let host: String = host.chars().map(|char| if char == '0' { '1' } else { '0' }).collect();
    format!("{host}-{index}")
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
    ben.push();
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
    ben.push();
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
    let mut removal = record_in(&text);
    let id = removal["id"].clone();
    removal["id"] = id_of_another_host(&removal, 0).into();
    removal["body"] = json!({ "removed": { "record": id, "why": "forgotten" } });
    ana.forge(&removal, None);
    ana.sync();
    assert!(ana.home.ok(&["search", "porcupine"]).contains("flushed by hand"), "a note written here was removed");
}

#[test]
fn records_that_no_server_would_take_are_not_taken() {
    let hub = Hub::new();
    let (ana, ben) = (hub.clone_of("ana"), hub.clone_of("ben"));
    ana.share(&ana.note("the porcupine cache is flushed by hand"));
    ana.commit_and_push();
    ben.pull();
    ben.sync();
    let text = std::fs::read_to_string(&ben.files()[0]).unwrap();
    let note = record_in(&text);
    let forged = |index: u64, change: &dyn Fn(&mut Value)| {
        let mut record = note.clone();
        record["id"] = id_of_another_host(&note, index).into();
        change(&mut record);
        record
    };
    // A note from a far future, which would drag the clock along.
    let future = forged(0, &|record| record["time"]["millis"] = 32_503_680_000_000_u64.into());
    ben.forge(&future, Some("the porcupine cache is flushed by hand"));
    // A confirmation in somebody else's name.
    let confirmed = json!({ "confirmed": { "record": note["id"], "by": "ben" } });
    ben.forge(&forged(1, &|record| record["body"] = confirmed.clone()), None);
    // Keys, which would seal the project: nothing proves whose they are.
    let member = hub.clone_of("carl").home.json(&["sync", "--key"])["key"].clone();
    let granted = json!({ "granted": {
        "by": member, "after": [], "removed": [], "key": "00".repeat(16), "older": "", "signature": "00".repeat(64),
        "grants": [{ "member": member, "user": "ana", "key": "" }],
    } });
    ben.forge(
        &forged(2, &|record| {
            record["body"] = granted.clone();
            record["format"] = 2.into();
        }),
        None,
    );
    let report = ben.sync();
    assert_eq!((report["unreadable"].clone(), report["sealed"].clone()), (3.into(), Value::Null), "{report}");
    assert_eq!(report["received"], json!([]));
    ben.share(&ben.note("the badger port is 4711"));
    assert_eq!(ben.files().len(), 3, "a note is shared in clear, as before");
    for option in ["--seal", "--key"] {
        let refused = ben.home.weir(&["sync", option]);
        let said = String::from_utf8_lossy(&refused.stderr).into_owned();
        assert!(said.contains("sealing notes in .weir/notes is not supported"), "{option}: {said}");
    }
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
