//! Tests what goes wrong around a store: damaged files, newer versions, read-only and full disks, foreign folders, open
//! modes. In each case the error names the cause, nothing acknowledged is lost, and the store continues once the cause
//! is gone.

use std::fs::{self, Permissions};
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

use weir_core::{EntryKind, Limits, ProjectKey, Query, Reference};
use weir_store::{Found, HistoryFilter, Owner, Store, StoreError, StorePart};

use crate::dump;
use crate::process;
use crate::support::{
    NOW, assert_healthy, copy_folder, day, entry, event, get, here, keep, new_store, noise, noisy_word, note, note_on,
    open, project, references, run, search, text,
};

/// Keeps some entries of each kind, and returns them with their texts. Some of the texts are in files.
fn furnish(store: &mut Store) -> Vec<(Reference, Vec<u8>)> {
    let mut kept = Vec::new();
    for (n, kind) in EntryKind::ALL.iter().cycle().take(24).enumerate() {
        let text = match n % 4 {
            0 => noise(n as u64, 20_000),
            1 => noisy_word(n as u64, 3_000).into_bytes(),
            _ => format!("the {n}th entry, a {kind}").into_bytes(),
        };
        kept.push((keep(store, entry(*kind, &text)).reference, text));
    }
    for n in 0..30 {
        store.append(&here(), &event(format!("event {n}")), NOW).unwrap();
    }
    kept
}

fn assert_all_there(store: &mut Store, kept: &[(Reference, Vec<u8>)]) {
    for (reference, expected) in kept {
        assert_eq!(get(store, *reference).bytes, expected.len() as u64);
        assert!(text(store, *reference) == *expected, "{reference} changed");
    }
}

fn try_open(folder: &Path) -> Result<Store, StoreError> {
    Store::open(folder, Owner::Project(project()), Limits::default())
}

#[test]
fn everything_is_there_after_a_restart() {
    let (folder, mut store) = new_store();
    let kept = furnish(&mut store);
    let history =
        |store: &Store| store.history(&here(), &HistoryFilter { limit: 1_000, ..HistoryFilter::default() }).unwrap();
    let (happened, found) = (history(&store), references(&search(&mut store, "entry")));
    drop(store);
    let mut store = open(folder.path());
    assert_all_there(&mut store, &kept);
    assert_eq!(history(&store), happened);
    assert_eq!(references(&search(&mut store, "entry")), found);
    assert_healthy(&mut store);
}

#[test]
fn a_log_that_is_no_database_is_refused_and_left_as_it_is() {
    let (folder, mut store) = new_store();
    furnish(&mut store);
    drop(store);
    let path = folder.path().join("log.db");
    let whole = fs::read(&path).unwrap();
    let with = |damage: &dyn Fn(&mut Vec<u8>)| {
        let mut bytes = whole.clone();
        damage(&mut bytes);
        bytes
    };
    for bytes in [
        b"hello".to_vec(),
        noise(1, 50_000),
        with(&|bytes| bytes[..16].copy_from_slice(b"not a database!!")),
        with(&|bytes| bytes[..100].copy_from_slice(&noise(2, 100))),
        with(&|bytes| bytes[100..4_096].copy_from_slice(&noise(3, 3_996))),
        with(&|bytes| bytes.truncate(5_000)),
    ] {
        fs::write(&path, &bytes).unwrap();
        let refused = try_open(folder.path()).map(|mut store| store.check().map(|health| health.log_problems));
        let said = matches!(&refused, Err(StoreError::Damaged { at: StorePart::Log, .. }))
            || matches!(&refused, Ok(Err(StoreError::Damaged { .. })))
            || matches!(&refused, Ok(Ok(problems)) if !problems.is_empty());
        assert!(said, "{refused:?}");
        assert!(fs::read(&path).unwrap() == bytes, "the file was touched");
    }
    fs::write(&path, &whole).unwrap();
    assert_healthy(&mut open(folder.path()));
}

/// Makes every call that only reads, and returns the errors.
fn ask_everything(folder: &Path, kept: &[(Reference, Vec<u8>)]) -> Vec<StoreError> {
    let mut store = match try_open(folder) {
        Ok(store) => store,
        Err(error) => return vec![error],
    };
    let mut errors = Vec::new();
    for (reference, expected) in kept {
        match store.get(&here(), *reference, NOW) {
            Ok(Found::Here(_) | Found::Never) => {}
            Ok(Found::Gone(gone)) => panic!("{reference} is said to be gone: {gone:?}"),
            Err(error) => errors.push(error),
        }
        match store.text(&here(), *reference).and_then(|reader| reader.map(|reader| reader.all()).transpose()) {
            Ok(found) => assert!(found.is_none_or(|text| text == *expected), "{reference} came back changed"),
            Err(error) => errors.push(error),
        }
    }
    errors.extend(store.history(&here(), &HistoryFilter { limit: 1_000, ..HistoryFilter::default() }).err());
    errors.extend(store.search(&here(), &Query::new("entry", 100)).err());
    errors.extend(store.search(&here(), &Query::new("ntr", 100)).err());
    let everything = weir_store::Selection { everything: true, ..Default::default() };
    errors.extend(store.plan_to_forget(&here(), &everything).err());
    match store.check() {
        Ok(health) => assert!(!health.log_problems.is_empty(), "the check saw nothing"),
        Err(error) => errors.push(error),
    }
    errors
}

#[test]
fn a_damaged_page_of_the_log_is_told_and_nothing_is_made_worse() {
    const PAGE: usize = 4_096;
    let (folder, mut store) = new_store();
    let kept = furnish(&mut store);
    // What was said becomes an entry with the first search.
    store.search(&here(), &Query::new("entry", 1)).unwrap();
    drop(store);
    let whole = fs::read(folder.path().join("log.db")).unwrap();
    let mut told = 0;
    for page in 2..whole.len() / PAGE {
        let copy = tempfile::tempdir().unwrap();
        copy_folder(folder.path(), copy.path());
        let mut bytes = whole.clone();
        bytes[page * PAGE..(page + 1) * PAGE].copy_from_slice(&noise(page as u64, PAGE));
        let path = copy.path().join("log.db");
        fs::write(&path, &bytes).unwrap();
        let errors = ask_everything(copy.path(), &kept);
        let typed = |error: &StoreError| matches!(error, StoreError::Damaged { .. } | StoreError::Lost { .. });
        assert!(errors.iter().all(typed), "page {page}: {errors:?}");
        assert!(fs::read(&path).unwrap() == bytes, "page {page}: the file was touched");
        told += usize::from(!errors.is_empty());
    }
    assert!(told > 10, "only {told} damaged pages were noticed by anything but the check");
}

#[test]
fn a_damaged_or_missing_text_is_told_and_the_others_are_read() {
    let (folder, mut store) = new_store();
    let texts: Vec<Vec<u8>> = (0..3).map(|n| noise(n, 40_000)).collect();
    let kept: Vec<Reference> = texts.iter().map(|text| keep(&mut store, run(text)).reference).collect();
    let file = |n: usize| folder.path().join("blobs").join(format!("{}.zst", blake3::hash(&texts[n]).to_hex()));
    let mut bytes = fs::read(file(0)).unwrap();
    bytes[20_000] ^= 1;
    fs::write(file(0), bytes).unwrap();
    fs::remove_file(file(1)).unwrap();
    for reference in &kept[..2] {
        let told = store.text(&here(), *reference).and_then(|reader| reader.unwrap().all());
        assert!(matches!(told, Err(StoreError::Lost { .. })), "{told:?}");
    }
    assert_eq!(text(&store, kept[2]), texts[2]);
}

#[test]
fn a_newer_log_is_refused_and_left_as_it_is() {
    let (folder, mut store) = new_store();
    let kept = furnish(&mut store);
    drop(store);
    let path = folder.path().join("log.db");
    from_the_future(&path);
    let before = fs::read(&path).unwrap();
    for _ in 0..2 {
        let refused = try_open(folder.path()).err();
        assert!(matches!(&refused, Some(StoreError::Newer { found, .. }) if found == "0099_future"), "{refused:?}");
        assert!(fs::read(&path).unwrap() == before, "the file was touched");
    }
    back_to_now(&path);
    assert_all_there(&mut open(folder.path()), &kept);
}

#[test]
fn a_newer_index_is_refused_and_set_aside_on_request() {
    let (folder, mut store) = new_store();
    let kept = furnish(&mut store);
    drop(store);
    let path = folder.path().join("index.db");
    from_the_future(&path);
    let before = fs::read(&path).unwrap();
    let mut store = open(folder.path());
    let newer = |error: &StoreError| matches!(error, StoreError::Newer { .. });
    assert!(store.search(&here(), &Query::new("entry", 5)).is_err_and(|error| newer(&error)));
    let added = store.keep(&here(), note("meanwhile"), NOW).unwrap();
    assert!(added.unfinished.as_ref().is_some_and(newer), "{:?}", added.unfinished);
    assert_all_there(&mut store, &kept);
    drop(store);
    assert!(fs::read(&path).unwrap() == before, "the file was touched");
    let mut store = open(folder.path());
    store.rebuild_index(|_| ()).unwrap();
    assert_eq!(search(&mut store, "meanwhile").len(), 1);
    assert_healthy(&mut store);
    assert!(fs::read(folder.path().join("index.db.damaged")).unwrap() == before, "it is kept aside as it was");
}

fn from_the_future(path: &Path) {
    let connection = dump::meddle_with(path);
    let version = dump::number(&connection, "PRAGMA user_version");
    connection
        .execute_batch(&format!(
            "INSERT INTO migrations VALUES ({version}, '0099_future', 'ff', '2099-01-01');
             PRAGMA user_version = {};",
            version + 1
        ))
        .unwrap();
}

fn back_to_now(path: &Path) {
    let connection = dump::meddle_with(path);
    let version = dump::number(&connection, "PRAGMA user_version");
    let batch = format!("DELETE FROM migrations WHERE name = '0099_future'; PRAGMA user_version = {};", version - 1);
    connection.execute_batch(&batch).unwrap();
}

#[test]
fn a_folder_copied_to_another_project_is_refused() {
    let (folder, mut store) = new_store();
    let kept = furnish(&mut store);
    drop(store);
    let copy = tempfile::tempdir().unwrap();
    copy_folder(folder.path(), copy.path());
    for owner in [Owner::Project(ProjectKey("q".into())), Owner::User] {
        let refused = Store::open(copy.path(), owner, Limits::default()).err();
        assert!(matches!(refused, Some(StoreError::OtherProject)), "{refused:?}");
    }
    assert_all_there(&mut open(copy.path()), &kept);
}

// The tests below run in child processes: with other permissions, in their own mount namespace, with a different umask.
// On a machine that does not support this the tests fail, because the child does not start.

/// Runs a child in its own mount namespace, after running `setup` there with the folder as `$1`.
pub(crate) fn in_namespace(setup: &str, folder: &Path, (test, task): (&str, &str)) {
    let script = format!("set -e; {setup}; shift; exec \"$@\"");
    let root = fs::metadata("/proc/self").unwrap().uid() == 0;
    let unshare = if root { "-m" } else { "-rm" };
    let folder = folder.to_str().unwrap();
    process::succeed(&mut process::child_of(
        &["unshare", unshare, "sh", "-c", &script, "sh", folder],
        test,
        &[task, folder],
    ));
}

/// Runs a child that is subject to file modes, even if it is root.
fn without_privileges(folder: &Path, task: &str) {
    process::succeed(&mut process::child_of(
        &["setpriv", "--inh-caps=-all", "--bounding-set=-all", "--no-new-privs"],
        "faults::child",
        &[task, folder.to_str().unwrap()],
    ));
}

#[test]
fn child() {
    let Some(task) = process::task() else { return };
    let folder = PathBuf::from(&task[1]);
    match task[0].as_str() {
        "read only" => refuse_to_write(&folder),
        "read only blobs" => refuse_large_texts(&folder),
        "full" => fill(&folder),
        "full from the start" => begin_when_full(&folder),
        "modes" => assert_private(&folder),
        other => panic!("no such task: {other}"),
    }
}

fn is_read_only(error: &StoreError) -> bool {
    matches!(error, StoreError::ReadOnly { .. })
}

/// In the child: the store can be read and refuses every write, always for the same reason.
fn refuse_to_write(folder: &Path) {
    let mut store = open(folder);
    assert!(!search(&mut store, "entry").is_empty());
    assert!(!store.history(&here(), &HistoryFilter { limit: 9, ..HistoryFilter::default() }).unwrap().is_empty());
    let everything = weir_store::Selection { everything: true, ..Default::default() };
    let plan = store.plan_to_forget(&here(), &everything).unwrap();
    assert_eq!(plan.entries.len(), 24);
    for planned in plan.entries {
        store.get(&here(), planned.reference, day(2)).unwrap();
        store.text(&here(), planned.reference).unwrap().unwrap().all().unwrap();
    }
    let refused = [
        store.append(&here(), &event("no"), NOW).err(),
        store.keep(&here(), note("no"), NOW).err(),
        store.forget(&here(), &everything, &plan.confirmation, NOW).err(),
        store.sweep(day(400)).err(),
    ];
    assert!(refused.iter().all(|error| error.as_ref().is_some_and(is_read_only)), "{refused:?}");
}

/// In the child: a text that needs a file is refused, one that does not is kept.
fn refuse_large_texts(folder: &Path) {
    let mut store = open(folder);
    let refused = store.keep(&here(), run(noise(99, 50_000)), NOW);
    assert!(refused.as_ref().is_err_and(is_read_only), "{refused:?}");
    keep(&mut store, note("a small one"));
}

/// Creates a store, removes permissions from it, runs the child, restores them and checks that everything is there.
fn check_read_only(take: impl Fn(&Path), run_child: impl Fn(&Path), give: impl Fn(&Path)) {
    let (folder, mut store) = new_store();
    let kept = furnish(&mut store);
    drop(store);
    let log = folder.path().join("log.db");
    let before = fs::read(&log).unwrap();
    take(folder.path());
    run_child(folder.path());
    give(folder.path());
    assert!(fs::read(&log).unwrap() == before, "the log was touched");
    let mut store = open(folder.path());
    assert_all_there(&mut store, &kept);
    keep(&mut store, note("writing goes on"));
    assert_eq!(search(&mut store, "writing").len(), 1);
    assert_healthy(&mut store);
}

fn set_mode(path: &Path, mode: u32) {
    fs::set_permissions(path, Permissions::from_mode(mode)).unwrap();
}

#[test]
fn a_read_only_folder_is_told_and_nothing_is_lost() {
    check_read_only(
        |folder| set_mode(folder, 0o500),
        |folder| without_privileges(folder, "read only"),
        |folder| set_mode(folder, 0o700),
    );
}

#[test]
fn a_read_only_log_is_told_and_nothing_is_lost() {
    check_read_only(
        |folder| set_mode(&folder.join("log.db"), 0o400),
        |folder| without_privileges(folder, "read only"),
        |folder| set_mode(&folder.join("log.db"), 0o600),
    );
}

#[test]
fn a_read_only_disk_is_told_and_nothing_is_lost() {
    let remount = "mount --bind \"$1\" \"$1\"; mount -o remount,ro,bind \"$1\"";
    check_read_only(|_| (), |folder| in_namespace(remount, folder, ("faults::child", "read only")), |_| ());
}

#[test]
fn a_read_only_folder_of_texts_is_told_and_small_texts_are_kept() {
    let (folder, mut store) = new_store();
    let kept = furnish(&mut store);
    drop(store);
    let blobs = folder.path().join("blobs");
    set_mode(&blobs, 0o500);
    without_privileges(folder.path(), "read only blobs");
    set_mode(&blobs, 0o700);
    let mut store = open(folder.path());
    assert_all_there(&mut store, &kept);
    assert_eq!(search(&mut store, "small").len(), 1);
    assert_healthy(&mut store);
}

#[test]
fn a_disk_without_room_for_a_new_store_is_told_and_the_store_begins_later() {
    let folder = tempfile::tempdir().unwrap();
    in_namespace("mount -t tmpfs -o size=2m none \"$1\"", folder.path(), ("faults::child", "full from the start"));
}

fn begin_when_full(disk: &Path) {
    let folder = disk.join("store");
    for free in [0, 4, 8, 40, 120] {
        let ballast = fill_up(disk, free);
        let refused =
            try_open(&folder).err().or_else(|| open(&folder).keep(&here(), run(noise(1, 300_000)), NOW).err());
        assert!(matches!(refused, Some(StoreError::Full { .. })), "{free} kB free: {refused:?}");
        fs::remove_file(ballast).unwrap();
    }
    let mut store = open(&folder);
    keep(&mut store, note("there is room"));
    assert_eq!(search(&mut store, "room").len(), 1);
    assert_healthy(&mut store);
}

/// Fills a disk with a file, except for some kilobytes.
fn fill_up(disk: &Path, free: usize) -> PathBuf {
    use std::io::Write as _;
    let ballast = disk.join("ballast");
    let mut file = fs::File::create(&ballast).unwrap();
    while file.write_all(&[7; 1024]).is_ok() {}
    let length = file.metadata().unwrap().len();
    file.set_len(length.saturating_sub(free as u64 * 1024)).unwrap();
    ballast
}

#[test]
fn a_full_disk_is_told_and_nothing_acknowledged_is_lost() {
    let folder = tempfile::tempdir().unwrap();
    in_namespace("mount -t tmpfs -o size=12m none \"$1\"", folder.path(), ("faults::child", "full"));
}

fn fill(disk: &Path) {
    let folder = disk.join("store");
    let ballast = disk.join("ballast");
    fs::write(&ballast, vec![7; 5_000_000]).unwrap();
    let mut store = open(&folder);
    let mut acknowledged: Vec<(Reference, Vec<u8>)> = Vec::new();
    let mut events = 0;
    let mut refused = 0;
    // Continue after the first refusal: small texts may still fit, and must be kept then.
    for n in 0.. {
        let text = match n % 4 {
            0 => noise(n, 3_000),
            1 => noisy_word(n, 300).into_bytes(),
            2 => noise(n, 20_000),
            _ => format!("note {n}").into_bytes(),
        };
        let entry = if n % 4 == 3 { note_on("full", &text) } else { run(&text) };
        match store.keep(&here(), entry, NOW) {
            Ok(kept) => acknowledged.push((kept.reference, text)),
            Err(StoreError::Full { .. }) => refused += 1,
            Err(other) => panic!("the {n}th: {other}"),
        }
        match store.append(&here(), &event(format!("event {n}")), NOW) {
            Ok(_) => events += 1,
            Err(StoreError::Full { .. }) => refused += 1,
            Err(other) => panic!("the {n}th event: {other}"),
        }
        if refused > 40 {
            break;
        }
    }
    println!("{} entries and {events} events before the disk was full", acknowledged.len());
    assert!(acknowledged.len() > 20, "{}", acknowledged.len());
    assert_all_there(&mut store, &acknowledged);
    fs::remove_file(ballast).unwrap();
    // The same store continues, and so does one that is opened again.
    acknowledged.push((keep(&mut store, note("there is room")).reference, b"there is room".to_vec()));
    drop(store);
    let mut store = open(&folder);
    keep(&mut store, note("and after a restart"));
    assert_all_there(&mut store, &acknowledged);
    let history = store.history(&here(), &HistoryFilter { limit: 100_000, ..HistoryFilter::default() }).unwrap();
    assert_eq!(history.iter().filter(|moment| moment.logged.event.text.starts_with("event")).count(), events);
    assert_eq!(search(&mut store, "restart").len(), 1);
    assert_healthy(&mut store);
}

#[test]
fn only_the_owner_can_read_the_store_whatever_the_umask() {
    let folder = tempfile::tempdir().unwrap();
    let task = ["modes", folder.path().to_str().unwrap()];
    process::succeed(&mut process::child_of(&["sh", "-c", "umask 000; exec \"$@\"", "sh"], "faults::child", &task));
}

fn assert_private(parent: &Path) {
    let folder = parent.join("a/b");
    let mut store = open(&folder);
    furnish(&mut store);
    store.rebuild_index(|_| ()).unwrap();
    let mode = |path: &Path| fs::metadata(path).unwrap().mode() & 0o777;
    let files = dump::files(&parent.join("a"));
    for name in ["log.db", "log.db-wal", "log.db-shm", "index.db", "index.db-wal", "index.db-shm"] {
        assert!(files.contains(&folder.join(name)), "{name} is not there: {files:?}");
    }
    assert!(files.iter().any(|file| file.extension().is_some_and(|extension| extension == "zst")), "{files:?}");
    for file in &files {
        assert_eq!(mode(file), 0o600, "{}", file.display());
    }
    for inside in ["a", "a/b", "a/b/blobs"] {
        assert_eq!(mode(&parent.join(inside)), 0o700, "{inside}");
    }
}
