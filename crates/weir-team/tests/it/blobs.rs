//! Tests what only the texts in an object store have: files that another backend reads, listings, sweeps and threads.

use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::s3::S3Server;
use crate::support::{ana, files, keep, scope, shelf_of};
use weir_core::{TenantId, Timestamp};
use weir_records::memory::{MemoryIndex, MemoryLog};
use weir_records::sqlite::FileBlobs;
use weir_records::{Blobs, ErrorKind, Log, Ports, TextKey};
use weir_team::{ObjectBlobs, Swept};

fn open(folder: &Path) -> ObjectBlobs {
    ObjectBlobs::in_folder(folder).unwrap()
}

/// Returns the file of a text.
fn file_of(folder: &Path, key: &TextKey) -> PathBuf {
    files(folder).into_iter().find(|path| path.to_string_lossy().contains(&key.to_string())).unwrap()
}

/// Returns a text of a few megabytes that does not compress away.
fn long_text() -> Vec<u8> {
    (0..400_000u64).flat_map(|number| (number.wrapping_mul(0x9E37_79B9_7F4A_7C15)).to_le_bytes()).collect()
}

#[test]
fn a_folder_of_files_is_read_and_written_by_both_backends() {
    let folder = tempfile::tempdir().unwrap();
    let backends: [Box<dyn Blobs>; 2] =
        [Box::new(open(folder.path())), Box::new(FileBlobs::open(folder.path()).unwrap())];
    let texts = [Vec::new(), b"short".to_vec(), b"x".repeat(200_000), long_text()];
    for writer in &backends {
        for text in &texts {
            let key = writer.put(&ana(), text).unwrap();
            for reader in &backends {
                assert!(reader.get(&ana(), &key).unwrap().unwrap() == *text);
                for range in [0..3, 1_048_570..1_048_590, 3_000_000..3_000_010, 10..u64::MAX] {
                    let end = text.len() as u64;
                    let expected = &text[range.start.min(end) as usize..range.end.min(end) as usize];
                    assert!(reader.range(&ana(), &key, range.clone()).unwrap().unwrap() == expected, "{range:?}");
                }
            }
            // So that the other one writes it too.
            assert!(writer.delete(&ana(), &key).unwrap() && !writer.delete(&ana(), &key).unwrap());
        }
    }
}

#[test]
fn only_the_owner_can_open_the_folder() {
    let folder = tempfile::tempdir().unwrap();
    let inner = folder.path().join("data").join("texts");
    open(&inner).put(&ana(), b"private").unwrap();
    for path in [&inner, &folder.path().join("data")] {
        assert_eq!(std::fs::metadata(path).unwrap().permissions().mode() & 0o077, 0, "{}", path.display());
    }
}

#[test]
fn a_damaged_text_is_named_and_an_old_one_is_not_written_over() {
    let folder = tempfile::tempdir().unwrap();
    let blobs = open(folder.path());
    let key = blobs.put(&ana(), &b"first text ".repeat(50)).unwrap();
    let path = file_of(folder.path(), &key);
    let mut bytes = std::fs::read(&path).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle] ^= 0x55;
    std::fs::write(&path, &bytes).unwrap();
    assert_eq!(blobs.get(&ana(), &key).unwrap_err().kind, ErrorKind::Damaged);
    assert_eq!(blobs.range(&ana(), &key, 0..5).unwrap_err().kind, ErrorKind::Damaged);
    assert_eq!(blobs.put(&ana(), &b"first text ".repeat(50)).unwrap(), key);
    assert_eq!(std::fs::read(&path).unwrap(), bytes);
}

#[test]
fn many_threads_store_one_text_once() {
    let folder = tempfile::tempdir().unwrap();
    let blobs = open(folder.path());
    std::thread::scope(|threads| {
        for _ in 0..8 {
            threads.spawn(|| blobs.put(&ana(), b"the same").unwrap());
        }
    });
    assert_eq!(files(folder.path()).len(), 1);
    assert_eq!(blobs.get(&ana(), &TextKey::of(b"the same")).unwrap().unwrap(), b"the same");
}

#[test]
fn a_sweep_deletes_what_no_record_has_and_leaves_the_rest() {
    let folder = tempfile::tempdir().unwrap();
    let (blobs, log) = (Arc::new(open(folder.path())), Arc::new(MemoryLog::default()));
    let ports = Ports { log: log.clone(), index: Arc::new(MemoryIndex::default()), blobs: blobs.clone() };
    let kept = keep(&shelf_of(ports), &ana(), "kept").body.kept().unwrap().text;
    let orphans = [&b"one"[..], &b"two"[..]].map(|text| blobs.put(&ana(), text).unwrap());
    let elsewhere = scope("umbrella", "eve", "api");
    let theirs = blobs.put(&elsewhere, b"one").unwrap();
    let stray = file_of(folder.path(), &kept).with_file_name("stray.txt");
    std::fs::write(&stray, "not a text").unwrap();

    let listed: Vec<TextKey> = (0..=u8::MAX)
        .flat_map(|byte| blobs.list(&ana(), byte).unwrap().texts)
        .inspect(|text| assert!(text.stored_bytes > 0 && text.at.0 > 0))
        .map(|text| text.key)
        .collect();
    let mut expected = vec![kept, orphans[0], orphans[1]];
    expected.sort();
    assert_eq!(listed, expected);

    let log: &dyn Log = &*log;
    let too_new = blobs.sweep(&ana(), log, Timestamp(0)).unwrap();
    assert_eq!(too_new, Swept { kept: 3, others: 1, ..Swept::default() });
    let swept = blobs.sweep(&ana(), log, Timestamp(i64::MAX)).unwrap();
    assert_eq!((swept.kept, swept.deleted, swept.others), (1, 2, 1));
    assert!(swept.deleted_bytes > 0);
    assert_eq!(blobs.get(&ana(), &kept).unwrap().unwrap(), b"kept");
    assert!(orphans.iter().all(|key| blobs.get(&ana(), key).unwrap().is_none()));
    assert_eq!(blobs.get(&elsewhere, &theirs).unwrap().unwrap(), b"one");
    assert!(stray.exists());
}

#[test]
fn removing_a_tenant_removes_unfinished_files_too() {
    let folder = tempfile::tempdir().unwrap();
    let blobs = open(folder.path());
    let elsewhere = scope("umbrella", "eve", "api");
    let theirs = blobs.put(&elsewhere, b"theirs").unwrap();
    let key = blobs.put(&ana(), b"ours").unwrap();
    let unfinished = file_of(folder.path(), &key).with_extension("zst#1");
    std::fs::write(&unfinished, "half a text").unwrap();
    assert_eq!(blobs.remove_tenant(&TenantId("acme".into())).unwrap(), 1);
    assert_eq!(files(folder.path()), [file_of(folder.path(), &theirs)]);
    assert_eq!(blobs.get(&ana(), &key).unwrap(), None);
    assert_eq!(blobs.put(&ana(), b"ours").unwrap(), key);
}

#[test]
fn texts_are_read_from_async_code_on_any_thread() {
    let folder = tempfile::tempdir().unwrap();
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    runtime.block_on(async {
        let blobs = Arc::new(open(folder.path()));
        let writer = Arc::clone(&blobs);
        let key = tokio::task::spawn_blocking(move || writer.put(&ana(), b"from afar").unwrap()).await.unwrap();
        // A caller that forgets to leave the runtime only waits.
        assert_eq!(blobs.get(&ana(), &key).unwrap().unwrap(), b"from afar");
        drop(blobs);
    });
}

#[test]
fn a_place_is_shown_without_its_key() {
    let shown = format!("{:?}", s3_place(Some("https://objects.example.com"), "the secret"));
    assert!(shown.contains("objects.example.com") && !shown.contains("secret"), "{shown}");
}

pub(crate) fn s3_place(endpoint: Option<&str>, secret: &str) -> weir_team::S3Place {
    weir_team::S3Place {
        endpoint: endpoint.map(str::to_owned),
        region: "us-east-1".into(),
        bucket: "weir".into(),
        prefix: String::new(),
        access_key: "weir".into(),
        secret_key: secret.into(),
        session_token: None,
    }
}

#[test]
fn the_contract_holds_on_s3() {
    let server = S3Server::start("the secret");
    weir_records::contract::all(|| {
        let prefix = weir_records::HostId::random().unwrap().to_string();
        let place = weir_team::S3Place { prefix, ..s3_place(Some(&server.endpoint), "the secret") };
        let blobs = Arc::new(ObjectBlobs::in_s3(&place).unwrap());
        shelf_of(Ports { blobs, ..crate::support::with_index(Arc::new(MemoryIndex::default())) })
    });
}

#[test]
fn a_wrong_key_is_refused_and_not_repeated() {
    let server = S3Server::start("the secret");
    let blobs = ObjectBlobs::in_s3(&s3_place(Some(&server.endpoint), "quixotical")).unwrap();
    let error = blobs.put(&ana(), b"text").unwrap_err();
    assert_eq!(error.kind, ErrorKind::Unavailable);
    assert!(!error.to_string().contains("quixotical"), "{error}");
}
