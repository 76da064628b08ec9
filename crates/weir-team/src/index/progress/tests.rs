//! Kills the index between a commit and the database of its positions.
#![allow(clippy::unwrap_used, reason = "a test that panics has failed")]

use super::*;

fn place(tenant: &str, project: &str) -> Place {
    Place { tenant: tenant.to_owned(), project: project.to_owned() }
}

fn state(position: u64) -> ProjectState {
    ProjectState { position, documents: position * 2, words: position * 3 }
}

/// An index as far as its progress goes: the payload of the last commit, and the database.
struct Stored {
    folder: tempfile::TempDir,
    payload: String,
}

impl Stored {
    fn file(&self) -> ProgressFile {
        ProgressFile::open(self.folder.path()).unwrap()
    }

    fn read(&self) -> tantivy::Result<Progress> {
        Progress::read(Some(&self.payload), None, &self.file())
    }

    fn commit(&mut self, progress: &mut Progress, changes: Changes) {
        self.payload = progress.payload_with(&changes).unwrap();
        progress.follow(changes);
    }
}

fn new() -> (Stored, Progress) {
    let stored = Stored { folder: tempfile::tempdir().unwrap(), payload: String::new() };
    let progress = Progress::new("", &mut stored.file()).unwrap();
    (stored, progress)
}

#[test]
fn a_crash_between_a_commit_and_the_database_loses_nothing() {
    let (mut stored, mut progress) = new();
    for number in 0..40 {
        let one = (place("t", &format!("p{}", number % 7)), Some(state(number)));
        let other = (place("u", "p"), (number % 2 == 0).then(|| state(number)));
        stored.commit(&mut progress, Changes::from([one, other]));
        // Here the process may be killed: after the commit,
        assert_eq!(stored.read().unwrap().tenants, progress.tenants);
        if number % 5 == 0 {
            progress.write(&mut stored.file()).unwrap();
            // or after the database was written, and before a commit knows of it.
            assert_eq!(stored.read().unwrap().tenants, progress.tenants);
            progress.saved();
        }
        let again = stored.read().unwrap();
        assert_eq!((again.commit, &again.tenants), (progress.commit, &progress.tenants));
        assert_eq!(again.projects(), progress.projects());
    }
}

#[test]
fn a_database_of_another_time_is_refused() {
    let (mut stored, mut progress) = new();
    let commit = |stored: &mut Stored, progress: &mut Progress, number| {
        stored.commit(progress, Changes::from([(place("t", "p"), Some(state(number)))]));
    };
    commit(&mut stored, &mut progress, 1);
    let early = stored.payload.clone();
    commit(&mut stored, &mut progress, 2);
    progress.write(&mut stored.file()).unwrap();
    progress.saved();
    // The commit that the database speaks of was lost.
    let late = std::mem::replace(&mut stored.payload, early);
    assert!(stored.read().is_err());
    stored.payload = late;
    commit(&mut stored, &mut progress, 3);
    assert_eq!(stored.read().unwrap().project(&place("t", "p")), state(3));
    // The database was lost.
    stored.file().clear().unwrap();
    assert!(stored.read().is_err());
    std::fs::write(stored.folder.path().join(PROGRESS_FILE), "not a database, but long enough to look at").unwrap();
    assert!(ProgressFile::open(stored.folder.path()).is_err());
}

#[test]
fn a_payload_names_what_has_changed_and_not_what_there_is() {
    let (mut stored, mut progress) = new();
    let mut longest = 0;
    for number in 0..5 * MAX_UNSAVED as u64 {
        stored.commit(&mut progress, Changes::from([(place("t", &number.to_string()), Some(state(number)))]));
        longest = longest.max(stored.payload.len());
        if progress.is_to_be_saved() {
            progress.write(&mut stored.file()).unwrap();
            progress.saved();
        }
    }
    assert!(longest < MAX_UNSAVED * 100, "{longest}");
    assert_eq!(stored.read().unwrap().projects(), 5 * MAX_UNSAVED as u64);
}
