//! Tests power cuts. The store is on a disk of its own, which is copied at some moment without being unmounted. The
//! copy is what a machine would find after a restart.
//!
//! The copy has what was written to the disk, and nothing that was still in memory. The process is stopped while the
//! disk is copied, so that the copy is of one moment.
#![expect(clippy::disallowed_methods, reason = "mounts disks, stops processes, and waits for chance moments")]

use std::fs;
use std::io::{BufRead as _, BufReader, Write as _};
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use weir_core::{EntryKind, Event, EventKind, Limits, NewEntry, Priority, Query, Reference};
use weir_store::{Depth, Found, HookRun, NewFile, Owner, Patience, Stamp, Store};

use crate::faults::in_namespace;
use crate::process::{self, ChildGuard};
use crate::support::{Dice, at, entry, here, noise, note, open_with, project, run};

/// So small that runs are evicted all the time, with their files.
fn limits() -> Limits {
    Limits { quota_bytes: 400_000, ..Limits::default() }
}

#[test]
fn twenty_power_cuts_lose_nothing_acknowledged() {
    cut_the_power(20);
}

#[test]
#[ignore = "takes minutes"]
fn nightly_two_hundred_and_fifty_power_cuts_lose_nothing_acknowledged() {
    cut_the_power(250);
}

fn cut_the_power(times: usize) {
    if fs::metadata("/proc/self").unwrap().uid() != 0 {
        println!("not run: only root can mount a disk image");
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    in_namespace("true", folder.path(), ("power::child", &times.to_string()));
}

#[test]
fn child() {
    let Some(task) = process::task() else { return };
    let (times, folder): (usize, _) = (task[0].parse().unwrap(), PathBuf::from(&task[1]));
    let (image, disk) = (folder.join("disk.img"), folder.join("disk"));
    fs::create_dir(&disk).unwrap();
    fs::File::create(&image).unwrap().set_len(64 << 20).unwrap();
    command(&["mkfs.ext4", "-q", path(&image)]);
    // The file system itself writes only every few minutes, so anything that the store does not wait for is lost.
    command(&["mount", "-o", "loop,commit=300", path(&image), path(&disk)]);
    let mut start = process::child("power::workload", &[path(&disk)]);
    let mut worker = ChildGuard(start.stdout(Stdio::piped()).spawn().unwrap());
    let acknowledged = Arc::new(Mutex::new(Vec::new()));
    let lines = BufReader::new(worker.0.stdout.take().unwrap()).lines();
    let reading = Arc::clone(&acknowledged);
    let reader = std::thread::spawn(move || {
        // The test harness prints lines too.
        let ours = lines.map_while(Result::ok).filter(|line| line.starts_with("note ") || line.starts_with("doc "));
        ours.for_each(|line| reading.lock().unwrap().push(line));
    });
    let mut dice = Dice::new(times as u64);
    for _ in 0..times {
        std::thread::sleep(Duration::from_millis(5 + dice.roll(120)));
        let pid = worker.0.id().to_string();
        command(&["kill", "-STOP", &pid]);
        wait_until_stopped(&pid);
        let known = acknowledged.lock().unwrap().clone();
        let copy = folder.join("copy.img");
        fs::copy(&image, &copy).unwrap();
        // The worker is paused until the copy has been checked. Otherwise the store would grow, and each check would
        // take longer.
        look_at_copy(&folder, &copy, &known);
        command(&["kill", "-CONT", &pid]);
        assert!(worker.0.try_wait().unwrap().is_none(), "the worker ended");
    }
    let count = |kind: &str| acknowledged.lock().unwrap().iter().filter(|line| line.starts_with(kind)).count();
    println!("{times} cuts: {} notes and {} documents acknowledged", count("note "), count("doc "));
    assert!(count("note ") > times / 4 && count("doc ") > 0, "too little was written to show anything");
    worker.kill();
    reader.join().unwrap();
    command(&["umount", path(&disk)]);
}

/// Mounts the copy, which replays the journal of the file system, and checks the store.
fn look_at_copy(folder: &Path, copy: &Path, acknowledged: &[String]) {
    let disk = folder.join("after");
    fs::create_dir_all(&disk).unwrap();
    command(&["mount", "-o", "loop", path(copy), path(&disk)]);
    if disk.join("store/log.db").exists() || !acknowledged.is_empty() {
        check_store(&disk.join("store"), acknowledged);
    }
    command(&["umount", path(&disk)]);
}

fn check_store(folder: &Path, acknowledged: &[String]) {
    let mut store = open_with(folder, limits());
    for line in acknowledged {
        let mut words = line.split(' ');
        let (kind, reference) = (words.next().unwrap(), Reference::parse(words.next().unwrap()).unwrap());
        match (kind, store.get(&here(), reference, at(0)).unwrap()) {
            ("note", Found::Here(_)) => {
                let text = store.text(&here(), reference).unwrap().unwrap().all().unwrap();
                assert_eq!(String::from_utf8(text).unwrap(), words.collect::<Vec<_>>().join(" "));
            }
            // A newer text may have replaced it.
            ("doc", Found::Here(_) | Found::Gone(_)) => {}
            (_, other) => panic!("{line} was acknowledged and is {other:?}"),
        }
    }
    let lost = store.unread_texts(Depth::Deep).unwrap().lost;
    assert!(lost.is_empty(), "a row came to the disk before its text: {lost:?}");
    for _ in 0..2 {
        let found = store.search(&here(), &Query::new("acknowledged", 1_000_000)).unwrap();
        let notes = acknowledged.iter().filter(|line| line.starts_with("note ")).count();
        assert!(found.hits.len() >= notes && found.lost.is_empty(), "{} of {notes}", found.hits.len());
        let health = store.check().unwrap();
        assert!(health.log_problems.is_empty() && health.index_problems.is_empty(), "{health:?}");
        store.rebuild_index(|_| ()).unwrap();
    }
}

/// Runs every kind of write in an endless loop, and prints what was acknowledged.
#[test]
fn workload() {
    let Some(task) = process::task() else { return };
    let folder = Path::new(&task[0]).join("store");
    let mut store = open_with(&folder, limits());
    let mut out = std::io::stdout();
    for n in 0_u64.. {
        let now = at(n as i64 * 1_000);
        match n % 6 {
            0 | 3 => {
                let text = format!("acknowledged {n}");
                let kept = store.keep(&here(), note(&text), now).unwrap();
                writeln!(out, "note {} {text}", kept.reference).unwrap();
            }
            // An output that is held, in a file.
            1 => {
                let mut writer = store.writer().unwrap();
                writer.write(&noise(n, 30_000 + (n as usize % 9) * 5_000)).unwrap();
                store.keep_written(&here(), run(""), writer, now).unwrap();
            }
            // Files that replace their previous versions.
            2 => {
                let files = (0..3).map(|k| file(&format!("docs/{}", (n / 6 + k) % 5), &noise(n + k, 30_000))).collect();
                for kept in store.keep_files(&here(), files, now).unwrap() {
                    writeln!(out, "doc {}", kept.reference).unwrap();
                }
                store.catch_up().unwrap();
            }
            // A hook: a process that opens the store, writes a little, and empties the write-ahead log once it has
            // grown.
            4 => {
                let owner = Owner::Project(project());
                let mut hook = Store::open_for_hook(&folder, owner, limits(), Patience::default()).unwrap();
                let told = Event {
                    kind: EventKind::Tool,
                    priority: Priority::P3,
                    text: "ran".into(),
                    data: None,
                    whole: None,
                };
                let seen = HookRun { client: "test".into(), event: "e".into(), at: now, micros: 1, output: None };
                hook.record(&here(), &[told], &seen).unwrap();
                hook.close_after_hook().unwrap();
            }
            _ => {
                store.search(&here(), &Query::new("acknowledged", 3)).unwrap();
            }
        }
    }
}

fn file(source: &str, text: &[u8]) -> NewFile {
    let entry = NewEntry { source: Some(source.into()), ..entry(EntryKind::Document, text) };
    let hash = blake3::hash(text).to_hex().to_string();
    NewFile { entry, stamp: Stamp { bytes: text.len() as u64, modified: 1, hash } }
}

fn wait_until_stopped(pid: &str) {
    let is_stopped = || {
        let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap();
        stat.rsplit(')').next().is_some_and(|rest| rest.trim_start().starts_with('T'))
    };
    while !is_stopped() {
        std::thread::sleep(Duration::from_millis(1));
    }
}

fn command(words: &[&str]) {
    let output = Command::new(words[0]).args(&words[1..]).output().unwrap();
    assert!(output.status.success(), "{words:?}: {}", String::from_utf8_lossy(&output.stderr));
}

fn path(path: &Path) -> &str {
    path.to_str().unwrap()
}
