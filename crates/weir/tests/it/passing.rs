//! Errors that pass, and damage of one thing: neither is taken for more than it is.
#![cfg(target_os = "linux")]
#![expect(clippy::disallowed_methods, reason = "the tests start the program within limits")]

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::time::Duration;

use rusqlite::Connection;
use serde_json::{Value, json};

use crate::support::{Home, WEIR, feed, parsed, said, wait_until};

/// A repository with a note, a prompt and two outputs in files.
struct Furnished {
    home: Home,
    outputs: [String; 2],
}

const BIRDS: [&str; 2] = ["albatross", "penguin"];

fn output_of(bird: &str) -> String {
    let words: String = (0..6_000_u32).map(|n| format!(" {}", &blake3::hash(&n.to_le_bytes()).to_hex()[..8])).collect();
    format!("the {bird} flies{words}")
}

impl Furnished {
    fn new() -> Self {
        let home = Home::outside_tmp();
        home.git(&["init", "-q"]);
        home.git(&["commit", "-q", "--allow-empty", "-m", "one"]);
        home.note(&["Port 7071 is for tests"]);
        home.hook("s1", "UserPromptSubmit", &json!({ "prompt": "Look into the tide tables" }));
        let outputs = BIRDS.map(|bird| {
            let answer = home.hook("s1", "PostToolUse", &tool_use(bird)).to_string();
            let start = answer.find("[ctx:").unwrap() + 5;
            answer[start..start + 10].to_owned()
        });
        Self { home, outputs }
    }

    fn stores(&self) -> Vec<PathBuf> {
        let folders = fs::read_dir(self.home.data().join("projects")).into_iter().flatten().flatten();
        folders.map(|folder| folder.path()).collect()
    }

    fn store(&self) -> PathBuf {
        self.stores().into_iter().next().unwrap()
    }

    fn file(&self, bird: &str) -> PathBuf {
        self.store().join("blobs").join(format!("{}.zst", blake3::hash(output_of(bird).as_bytes()).to_hex()))
    }

    fn fails(&self, arguments: &[&str], code: i32) -> String {
        let output = self.home.weir(arguments);
        assert_eq!(output.status.code(), Some(code), "{arguments:?}: {}", said(&output));
        said(&output)
    }

    /// Runs the program as a user who is subject to permissions, even if root runs the test.
    fn without_privileges(&self, arguments: &[&str]) -> Output {
        self.unprivileged(arguments).output().unwrap()
    }

    fn unprivileged(&self, arguments: &[&str]) -> Command {
        let wrapper = ["--inh-caps=-all", "--bounding-set=-all", "--no-new-privs", WEIR];
        self.home.command("setpriv", &[&wrapper, arguments].concat())
    }

    fn faults(&self) -> String {
        fs::read_to_string(self.home.data().join("hook-faults.log")).unwrap_or_default()
    }
}

fn tool_use(bird: &str) -> Value {
    let done = json!({ "stdout": output_of(bird), "stderr": "" });
    json!({ "tool_name": "Bash", "tool_input": { "command": format!("count {bird}") }, "tool_response": done })
}

fn set_mode(path: &Path, mode: u32) {
    fs::set_permissions(path, Permissions::from_mode(mode)).unwrap();
}

type Damage = fn(&Path);

/// What a failing disk or a person does to the file of a text.
const DAMAGES: [(&str, Damage); 5] = [
    ("missing", |path| fs::remove_file(path).unwrap()),
    ("emptied", |path| fs::write(path, b"").unwrap()),
    ("cut short", |path| fs::write(path, &fs::read(path).unwrap()[..900]).unwrap()),
    ("garbled", |path| fs::write(path, vec![7; fs::metadata(path).unwrap().len() as usize]).unwrap()),
    ("one bit flipped", |path| {
        let mut bytes = fs::read(path).unwrap();
        bytes[5_000] ^= 1;
        fs::write(path, bytes).unwrap();
    }),
];

#[test]
fn a_backup_with_a_lost_text_is_restored_without_it() {
    for (how, damage) in DAMAGES {
        let one = Furnished::new();
        damage(&one.file("albatross"));
        let told = one.fails(&["backup", "../b.weir"], 3);
        assert!(told.contains("cannot back up 1 text"), "{how}: {told}");
        let elsewhere = one.home.at("elsewhere");
        fs::create_dir(&elsewhere).unwrap();
        let restored = one.home.weir_in(&elsewhere, &["restore", "../b.weir"]);
        assert_eq!(restored.status.code(), Some(3), "{how}: {}", said(&restored));
        assert!(said(&restored).contains("1 text could not be restored"), "{how}: {}", said(&restored));
        for word in ["7071", "penguin"] {
            let found = one.home.weir_in(&elsewhere, &["search", word]);
            assert!(said(&found).contains(word), "{how}: {}", said(&found));
        }
    }
}

#[test]
fn a_backup_that_was_made_without_looking_is_restored_too() {
    // An earlier version put damaged texts into its backups.
    let one = Furnished::new();
    one.home.ok(&["backup", "../b.weir"]);
    let unpacked = one.home.at("unpacked");
    let archive = zstd::Decoder::new(fs::File::open(one.home.at("b.weir")).unwrap()).unwrap();
    tar::Archive::new(archive).unpack(&unpacked).unwrap();
    let name = one.file("albatross").file_name().unwrap().to_owned();
    DAMAGES[4].1(&unpacked.join("blobs").join(name));
    let mut archive =
        tar::Builder::new(zstd::Encoder::new(fs::File::create(one.home.at("c.weir")).unwrap(), 1).unwrap());
    archive.append_path_with_name(unpacked.join("weir-backup.json"), "weir-backup.json").unwrap();
    archive.append_path_with_name(unpacked.join("log.db"), "log.db").unwrap();
    for file in fs::read_dir(unpacked.join("blobs")).unwrap().flatten() {
        let name = format!("blobs/{}", file.file_name().to_str().unwrap());
        archive.append_path_with_name(file.path(), name).unwrap();
    }
    archive.into_inner().unwrap().finish().unwrap();
    let told = one.fails(&["restore", "../c.weir", "--force"], 3);
    assert!(told.contains("1 text could not be restored"), "{told}");
    assert!(one.home.ok(&["search", "penguin"]).contains("penguin"));
}

#[test]
fn an_export_goes_on_after_a_lost_text() {
    for (how, damage) in DAMAGES {
        let one = Furnished::new();
        let whole = one.home.ok(&["export"]);
        damage(&one.file("albatross"));
        let output = one.home.weir(&["export"]);
        assert_eq!(output.status.code(), Some(3), "{how}: {}", said(&output));
        let lines: Vec<Value> =
            String::from_utf8(output.stdout).unwrap().lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        assert_eq!(lines.len(), whole.lines().count(), "{how}");
        let unreadable: Vec<&Value> = lines.iter().filter(|line| line["unreadable"].is_string()).collect();
        assert_eq!((unreadable.len(), &unreadable[0]["reference"]), (1, &json!(one.outputs[0])), "{how}");
        assert!(lines.iter().any(|line| line["text"].as_str().is_some_and(|text| text.contains("penguin"))), "{how}");
        one.fails(&["export", "../e.jsonl"], 3);
        let written = fs::read_to_string(one.home.at("e.jsonl")).unwrap();
        assert_eq!(written.lines().count(), lines.len(), "{how}");
    }
}

#[test]
fn texts_of_another_user_are_not_lost() {
    let one = Furnished::new();
    for bird in BIRDS {
        set_mode(&one.file(bird), 0o000);
    }
    let told = said(&one.without_privileges(&["doctor", "--deep"]));
    assert!(told.contains("2 texts cannot be read at the moment") && !told.contains("--drop-lost"), "{told}");
    let told = said(&one.without_privileges(&["doctor", "--deep", "--drop-lost"]));
    assert!(told.contains("0 lost entries removed"), "{told}");
    let found = said(&one.without_privileges(&["search", "albatross"]));
    assert!(found.contains("the text cannot be read at the moment"), "{found}");
    for bird in BIRDS {
        set_mode(&one.file(bird), 0o600);
    }
    for (bird, reference) in BIRDS.iter().zip(&one.outputs) {
        assert!(one.home.ok(&["get", reference]).contains(bird));
        assert!(one.home.ok(&["search", bird]).contains(reference), "{bird} is indexed once it can be read");
    }
    one.home.ok(&["doctor", "--deep"]);
}

#[test]
fn a_repository_that_cannot_be_read_opens_no_other_store() {
    let one = Furnished::new();
    let head = one.home.project().join(".git/HEAD");
    for (path, mode) in [(head.clone(), 0o600), (one.home.project().join(".git"), 0o755)] {
        set_mode(&path, 0o000);
        for arguments in [&["note", "a lost note"][..], &["search", "7071"], &["run", "true"]] {
            let output = one.without_privileges(arguments);
            let told = said(&output);
            assert!(!output.status.success() && told.contains("cannot read") && told.contains(".git"), "{told}");
        }
        let payload = json!({ "session_id": "s1", "cwd": one.home.project(), "hook_event_name": "UserPromptSubmit", "prompt": "x" });
        let hook = feed(one.unprivileged(&["hook", "claude", "UserPromptSubmit"]), payload.to_string().as_bytes());
        assert!(hook.status.success() && said(&hook).is_empty(), "{}", said(&hook));
        assert!(one.faults().contains("cannot read"), "{}", one.faults());
        set_mode(&path, mode);
    }
    assert_eq!(one.stores().len(), 1);
    assert!(one.home.ok(&["search", "7071"]).contains("7071"));
}

#[test]
fn a_damaged_user_store_does_not_end_what_a_project_knows() {
    for file in ["log.db", "index.db"] {
        let one = Furnished::new();
        one.home.note(&["Tabs are four wide", "--scope", "user"]);
        one.home.ok(&["search", "wide"]);
        let user = one.home.data().join("user");
        for side in ["-wal", "-shm"] {
            let _ = fs::remove_file(user.join(format!("{file}{side}")));
        }
        fs::write(user.join(file), vec![9; 20_000]).unwrap();
        let found = one.home.ok(&["search", "7071"]);
        assert!(found.contains("7071 is for tests") && found.contains("without the user's notes"), "{file}: {found}");
        let found = one.home.session("s2").call("ctx_search", &json!({ "queries": ["albatross"] }));
        assert!(found.contains("albatross") && found.contains("without the user's notes"), "{file}: {found}");
        if file == "log.db" {
            for command in ["notes", "context"] {
                let told = one.home.ok(&[command]);
                assert!(told.contains("7071") && told.contains("without the user's notes"), "{command}: {told}");
            }
        }
        assert!(one.home.ok(&["get", &one.outputs[0]]).contains("albatross"));
        one.fails(&["search", "wide", "--scope", "user"], 4);
    }
}

#[test]
fn forgetting_removes_what_killed_commands_left() {
    let one = Furnished::new();
    let (store, projects) = (one.store(), one.home.data().join("projects"));
    for within in [&store, &projects] {
        fs::create_dir_all(within.join(".making-left/blobs")).unwrap();
        fs::copy(store.join("log.db"), within.join(".making-left/log.db")).unwrap();
        fs::write(within.join(".making-left.lock"), b"").unwrap();
    }
    let older = PathBuf::from(format!("{}.replaced-abc", store.display()));
    fs::create_dir(&older).unwrap();
    let code = one.home.json(&["forget", "--project"])["confirm"].as_str().unwrap().to_owned();
    let told = one.home.ok(&["forget", "--project", "--confirm", &code]);
    assert!(told.contains(older.to_str().unwrap()), "{told}");
    for within in [store, projects] {
        assert!(!within.join(".making-left").exists() && !within.join(".making-left.lock").exists());
    }
}

#[test]
fn the_next_backup_removes_the_half_file_of_a_killed_one() {
    let one = Furnished::new();
    let (half, other) = (one.home.at(".b.weir.k7f2m9q4xz"), one.home.at(".b.weir.notes"));
    fs::write(&half, "half").unwrap();
    fs::write(&other, "not ours").unwrap();
    one.home.ok(&["backup", "../b.weir"]);
    assert!(!half.exists() && other.exists());
}

#[test]
fn a_limit_on_the_size_of_files_ends_no_hook() {
    let one = Furnished::new();
    let payload = |bird: &str| {
        let mut payload = json!({ "session_id": "s1", "cwd": one.home.project(), "hook_event_name": "PostToolUse" });
        payload.as_object_mut().unwrap().extend(tool_use(bird).as_object().unwrap().clone());
        payload.to_string()
    };
    for blocks in [0, 1, 4, 16, 64] {
        let script = format!("ulimit -f {blocks}; exec \"$@\"");
        let command = one.home.command("sh", &["-c", &script, "sh", WEIR, "hook", "claude", "PostToolUse"]);
        let hook = feed(command, payload("cormorant").as_bytes());
        assert_eq!((hook.status.code(), text_of(&hook.stderr)), (Some(0), String::new()), "{blocks} blocks");
        let command = one.home.command("sh", &["-c", &script, "sh", WEIR, "note", &"a long note ".repeat(8_000)]);
        let note = feed(command, b"");
        assert!(note.status.code().is_some(), "{blocks} blocks: {}", note.status);
    }
    assert!(one.home.ok(&["search", "albatross"]).contains("albatross"));
}

fn text_of(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

#[test]
fn few_descriptors_are_an_error_and_not_a_panic() {
    let one = Furnished::new();
    for limit in 4..40 {
        let within = |arguments: &[&str]| {
            let script = format!("ulimit -n {limit}; exec \"$@\"");
            one.home.command("sh", &[&["-c", &script, "sh", WEIR], arguments].concat())
        };
        let payload = json!({ "session_id": "s1", "cwd": one.home.project(), "hook_event_name": "UserPromptSubmit", "prompt": "x" });
        let hook = feed(within(&["hook", "claude", "UserPromptSubmit"]), payload.to_string().as_bytes());
        let is_loaded = hook.status.code() != Some(127);
        assert!(!is_loaded || (hook.status.code() == Some(0) && hook.stderr.is_empty()), "{limit}: {}", said(&hook));
        for arguments in [&["search", "7071"][..], &["note", "few"], &["doctor"], &["export"]] {
            let output = within(arguments).output().unwrap();
            let told = said(&output);
            let is_known = output.status.code().is_some_and(|code| matches!(code, 0..=7 | 127));
            assert!(is_known && !told.contains("panicked"), "{limit}, {arguments:?}: {} {told}", output.status);
            assert!(!told.contains("writable, or set WEIR_DATA"), "{limit}, {arguments:?}: {told}");
        }
    }
    assert!(one.home.ok(&["search", "penguin"]).contains("penguin"));
    // Hooks that could not find out where they were have said so.
    let _ = fs::remove_file(one.home.data().join("hook-faults.log"));
    one.home.ok(&["doctor", "--deep"]);
}

#[test]
fn a_read_only_store_is_reported_and_still_gives_a_guide() {
    let one = Furnished::new();
    // A compacted session gets a guide.
    let guide = |command: Command| {
        let payload = json!({
            "session_id": "s1", "cwd": one.home.project(), "hook_event_name": "SessionStart", "source": "compact",
        });
        text_of(&feed(command, payload.to_string().as_bytes()).stdout)
    };
    assert!(guide(one.home.weir_command(&["hook", "claude", "SessionStart"])).contains("tide tables"));
    // A disk that nobody can write to, not even root.
    let data = one.home.data();
    let script = "mount --bind \"$1\" \"$1\"; mount -o remount,ro,bind \"$1\"; shift; exec \"$@\"";
    let wrapper = ["-rm", "sh", "-c", script, "sh", data.to_str().unwrap(), WEIR];
    let read_only = |arguments: &[&str]| one.home.command("unshare", &[&wrapper, arguments].concat());
    let shown = guide(read_only(&["hook", "claude", "SessionStart"]));
    let doctor = read_only(&["doctor"]).output().unwrap();
    assert!(shown.contains("tide tables"), "{shown}");
    assert_eq!(doctor.status.code(), Some(3), "{}", said(&doctor));
    assert!(said(&doctor).contains("cannot write to the store"), "{}", said(&doctor));
}

#[test]
fn a_full_disk_is_reported_and_forgetting_says_what_to_do() {
    let one = Furnished::new();
    let data = one.home.data();
    let aside = one.home.at("aside");
    // On a small disk of its own, as the data folder.
    let script = "set -e; cp -a \"$1\" \"$2\"; mount -t tmpfs -o size=2m none \"$1\"; cp -a \"$2/.\" \"$1\"; shift 2
        set +e; rm -f \"$HOME\"/.local/share/weir/projects/*/index.db*; cat /dev/zero > \"$HOME/.local/share/weir/ballast\"
        exec \"$@\"";
    let within = |arguments: &[&str]| {
        let folders = [data.to_str().unwrap(), aside.to_str().unwrap()];
        let mut command = one.home.command("unshare", &["-rm", "sh", "-c", script, "sh"]);
        command.args(folders).arg(WEIR).args(arguments).output().unwrap()
    };
    let doctor = within(&["doctor"]);
    assert!(said(&doctor).contains("the disk is full"), "{}", said(&doctor));
    assert_eq!(doctor.status.code(), Some(3), "{}", said(&doctor));
    fs::remove_dir_all(&aside).unwrap();
    let code = one.home.json(&["forget", "--project"])["confirm"].as_str().unwrap().to_owned();
    let forgot = within(&["forget", "--project", "--confirm", &code]);
    let told = said(&forgot);
    assert!(forgot.status.success() || told.contains("free a megabyte"), "{told}");
    assert!(!told.contains("with `weir forget`"), "{told}");
}

#[test]
fn an_index_that_another_process_writes_is_not_damaged() {
    let one = Furnished::new();
    one.home.ok(&["search", "penguin"]);
    let index = Connection::open(one.store().join("index.db")).unwrap();
    index.execute_batch("BEGIN IMMEDIATE").unwrap();
    let told = one.home.ok(&["doctor"]);
    assert!(told.contains("another process is indexing") && !told.contains("--rebuild-index"), "{told}");
}

#[test]
fn texts_without_a_log_are_reported() {
    for is_emptied in [false, true] {
        let one = Furnished::new();
        let store = one.store();
        for file in ["log.db", "log.db-wal", "log.db-shm"] {
            let _ = fs::remove_file(store.join(file));
        }
        if is_emptied {
            fs::write(store.join("log.db"), b"").unwrap();
        }
        let told = one.fails(&["doctor"], 3);
        assert!(told.contains("2 texts in") && told.contains("belong to a log that is gone"), "{told}");
        let told = one.fails(&["search", "albatross"], 3);
        assert!(told.contains("belong to a log that is gone"), "{told}");
        // A new log does not remove them, and they are still reported.
        one.home.note(&["a new beginning"]);
        for bird in BIRDS {
            fs::File::options().write(true).open(one.file(bird)).unwrap().set_modified(std::time::UNIX_EPOCH).unwrap();
        }
        assert!(one.fails(&["doctor"], 3).contains("2 texts in"));
    }
}

#[test]
fn a_pipe_in_a_store_holds_up_nothing() {
    let one = Furnished::new();
    let place = one.store().join("place");
    let _ = fs::remove_file(&place);
    rustix::fs::mknodat(rustix::fs::CWD, &place, rustix::fs::FileType::Fifo, rustix::fs::Mode::RUSR, 0).unwrap();
    let mut child = one.home.weir_command(&["search", "7071"]).stdout(std::process::Stdio::piped()).spawn().unwrap();
    let has_ended = wait_until(Duration::from_secs(60), || child.try_wait().unwrap().is_some());
    let _ = child.kill();
    assert!(has_ended, "search waits for a pipe");
    assert!(text_of(&child.wait_with_output().unwrap().stdout).contains("7071"));
}

#[test]
fn an_output_that_comes_again_replaces_a_damaged_copy() {
    for (how, damage) in DAMAGES {
        let one = Furnished::new();
        damage(&one.file("albatross"));
        let answer = one.home.hook("s2", "PostToolUse", &tool_use("albatross")).to_string();
        assert!(answer.contains("[ctx:"), "{how}: {answer}");
        assert!(one.home.ok(&["get", &one.outputs[0]]).contains("albatross"), "{how}");
    }
}

#[test]
fn a_hit_whose_text_cannot_be_read_says_so() {
    let one = Furnished::new();
    one.home.ok(&["search", "albatross"]);
    DAMAGES[0].1(&one.file("albatross"));
    let told = one.home.ok(&["search", "albatross"]);
    assert!(told.contains("its text is lost"), "{told}");
    let data = parsed(&one.home.weir(&["search", "albatross", "--json"]));
    assert_eq!(data["queries"][0]["hits"][0]["excerpt"], "");
}
