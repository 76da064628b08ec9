//! Tests of doubts, with real files and real git. Commits are checked in a sandbox and therefore tested through the
//! program, which is its own helper.

use std::path::Path;

use proptest::prelude::*;
use weir_core::note::BoundFile;
use weir_core::{Entry, EntryKind, Level, Note, NoteKind, Origin, Reference, Timestamp};

use super::files::{BoundFiles, bind};
use super::*;

fn bound(root: &Path, path: &str) -> BoundFile {
    let (mut files, unbound) = bind(root, Level::Project, &[path.to_owned()]);
    assert!(unbound.is_empty(), "{unbound:?}");
    files.pop().unwrap()
}

fn doubt(root: &Path, file: &BoundFile) -> Option<Doubt> {
    BoundFiles::new(root).doubt(file)
}

fn entry(level: Level, files: Vec<BoundFile>) -> Entry {
    let note = Note { files, ..Note::new(NoteKind::Finding) };
    Entry {
        reference: Reference::from_bits(1),
        kind: EntryKind::Note,
        origin: Origin::User,
        level,
        title: "a note".into(),
        source: None,
        at: Timestamp(0),
        expires_at: None,
        pinned: false,
        bytes: 6,
        redactions: 0,
        note: Some(note),
        superseded_by: None,
        run: None,
    }
}

#[test]
fn a_file_is_the_same_changed_or_gone() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path();
    std::fs::create_dir(root.join("src")).unwrap();
    std::fs::write(root.join("src/pool.rs"), "16").unwrap();
    let file = bound(root, "src/pool.rs");
    assert_eq!(file.path, "src/pool.rs");
    assert_eq!(doubt(root, &file), None);
    std::fs::write(root.join("src/pool.rs"), "32").unwrap();
    assert_eq!(doubt(root, &file), Some(Doubt::FileChanged { path: "src/pool.rs".into() }));
    std::fs::write(root.join("src/pool.rs"), "16").unwrap();
    assert_eq!(doubt(root, &file), None, "it is as it was");
    std::fs::remove_file(root.join("src/pool.rs")).unwrap();
    assert_eq!(doubt(root, &file), Some(Doubt::FileGone { path: "src/pool.rs".into() }));
    std::fs::remove_dir(root.join("src")).unwrap();
    std::fs::write(root.join("src"), "a file where the folder was").unwrap();
    assert_eq!(doubt(root, &file), Some(Doubt::FileGone { path: "src/pool.rs".into() }));
}

#[cfg(unix)]
#[test]
fn what_cannot_be_told_is_left_unsaid() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path();
    std::fs::write(root.join("file"), "text").unwrap();
    let file = bound(root, "file");
    std::fs::remove_file(root.join("file")).unwrap();
    rustix::fs::mknodat(
        rustix::fs::CWD,
        root.join("file"),
        rustix::fs::FileType::Fifo,
        rustix::fs::Mode::RUSR | rustix::fs::Mode::WUSR,
        0,
    )
    .unwrap();
    assert_eq!(doubt(root, &file), None, "nobody waits for a pipe");
    std::fs::remove_file(root.join("file")).unwrap();
    std::fs::File::create(root.join("file")).unwrap().set_len(65 << 20).unwrap();
    assert_eq!(doubt(root, &file), None, "it is too large to be hashed in every answer");
    let (files, unbound) = bind(root, Level::Project, &["file".into(), "nowhere".into(), ".".into()]);
    assert_eq!(files, []);
    assert_eq!(unbound[0], "file: it is larger than 64 MB");
    assert!(unbound[1].starts_with("nowhere: "), "{unbound:?}");
    assert_eq!(unbound[2], ".: it is not a regular file");
}

#[test]
fn a_note_of_the_user_is_bound_to_the_very_file() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path();
    std::fs::write(root.join("file"), "text").unwrap();
    let (files, _) = bind(root, Level::User, &["file".into()]);
    assert_eq!(files[0].path, root.join("file").display().to_string());
    let relative = BoundFile { path: "file".into(), hash: "of another project's".into() };
    let files_of = |level, files: &[BoundFile]| claim(&entry(level, files.to_vec())).map(|claim| claim.files);
    assert_eq!(files_of(Level::User, &files), Some(files.clone()));
    assert_eq!(files_of(Level::User, std::slice::from_ref(&relative)), None);
    assert_eq!(files_of(Level::Project, std::slice::from_ref(&relative)), Some(vec![relative]));
}

#[test]
fn a_doubt_is_one_line() {
    let commit = "1a2b3c4d5e6f7a8b9c0d1e2f3a4b5c6d7e8f9a0b".to_owned();
    for (doubt, expected) in [
        (Doubt::FileChanged { path: "src/pool.rs".into() }, "src/pool.rs has changed since"),
        (Doubt::FileGone { path: "src/a\nb.rs".into() }, "src/a b.rs is gone"),
        (
            Doubt::OtherBranch { commit: commit.clone(), branch: Some("feature/x".into()) },
            "from commit 1a2b3c4 (branch feature/x), which is not in HEAD",
        ),
        (Doubt::OtherBranch { commit, branch: None }, "from commit 1a2b3c4, which is not in HEAD"),
    ] {
        assert_eq!(doubt.to_string(), expected);
    }
}

#[test]
fn only_whole_answers_of_git_count() {
    let said = commits::parse("aa 0\nbb 1\ncc 128\nwarning: nonsense\ndd 1");
    let mut said: Vec<(&str, bool)> = said.iter().map(|(commit, is)| (commit.as_str(), *is)).collect();
    said.sort_unstable();
    assert_eq!(said, [("aa", true), ("bb", false)]);
}

proptest! {
    #[test]
    fn a_doubt_about_anything_stays_one_line(path: String, commit: String, branch: Option<String>) {
        for doubt in [Doubt::FileGone { path: path.clone() }, Doubt::OtherBranch { commit, branch }] {
            prop_assert_eq!(doubt.to_string().lines().count(), 1);
        }
    }
}
