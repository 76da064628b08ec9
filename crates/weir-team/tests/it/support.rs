//! What the tests of several modules need.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use weir_core::{EntryKind, ProjectKey, Scope, TenantId, Timestamp, UserId};
use weir_records::memory::{MemoryBlobs, MemoryLog};
use weir_records::{
    ApiToken, Audience, Credential, Index, Invitation, NewRecord, Ports, Record, SearchQuery, Shelf, TokenScope, Writer,
};
use weir_team::TantivyIndex;

/// The time of day in these tests.
pub(crate) const NOW: Timestamp = Timestamp(1_700_000_000_000);

pub(crate) fn scope(tenant: &str, user: &str, project: &str) -> Scope {
    Scope { tenant: TenantId(tenant.into()), user: UserId(user.into()), ..Scope::project(ProjectKey(project.into())) }
}

pub(crate) fn ana() -> Scope {
    scope("acme", "ana", "api")
}

pub(crate) fn note(text: &str) -> NewRecord {
    NewRecord::new(EntryKind::Note, Audience::Team, "a note", text)
}

pub(crate) fn keep(shelf: &Shelf, scope: &Scope, text: &str) -> Record {
    shelf.keep(scope, note(text), NOW).unwrap()
}

/// Returns ports with log and texts in memory.
pub(crate) fn with_index(index: Arc<dyn Index>) -> Ports {
    Ports { log: Arc::new(MemoryLog::default()), index, blobs: Arc::new(MemoryBlobs::default()) }
}

pub(crate) fn shelf_of(ports: Ports) -> Shelf {
    Shelf::new(ports, Writer::new().unwrap())
}

pub(crate) fn open(folder: &Path) -> Arc<TantivyIndex> {
    Arc::new(TantivyIndex::open(folder).unwrap())
}

/// Returns how many records a search finds, after the index has caught up.
pub(crate) fn hits(shelf: &Shelf, scope: &Scope, words: &str) -> usize {
    let found = shelf.search(scope, &SearchQuery::new(words, 1_000)).unwrap();
    assert_eq!(found.behind, 0);
    found.hits.len()
}

pub(crate) fn files(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() { found.append(&mut files(&path)) } else { found.push(path) }
    }
    found
}

/// Asserts that no file has any of these words.
pub(crate) fn assert_no_trace(folder: &Path, words: &[&str]) {
    for path in files(folder) {
        let bytes = std::fs::read(&path).unwrap();
        for word in words {
            let found = bytes.windows(word.len()).any(|window| window == word.as_bytes());
            assert!(!found, "{word} in {}", path.display());
        }
    }
}

/// Returns a new invitation to read that a token's user makes, which is not added. It is good for three uses.
pub(crate) fn invitation(by: &ApiToken) -> Invitation {
    let credential = Credential::draw().unwrap();
    Invitation {
        id: credential.id(),
        hash: credential.hash(),
        tenant: by.tenant.clone(),
        user: None,
        scope: TokenScope::Read,
        projects: Some(vec![ProjectKey("api".into())]),
        token_millis: Some(60_000),
        max_uses: 3,
        uses: 0,
        invited_by: by.user.clone(),
        invited_with: by.id,
        created_at: NOW,
        expires_at: Timestamp(NOW.0 + 60_000),
        revoked_at: None,
    }
}
