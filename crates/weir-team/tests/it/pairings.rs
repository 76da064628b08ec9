//! Runs the contract of the ports on every pairing of these backends with those of `weir-records`. The pairings without
//! one of these are tested there.

use std::sync::{Arc, Mutex};

use weir_records::contract::NewShelf;
use weir_records::memory::{MemoryBlobs, MemoryIndex, MemoryLog};
use weir_records::sqlite::{FileBlobs, SqliteIndex, SqliteLog};
use weir_records::{Ports, Shelf};
use weir_team::{BucketOptions, BucketedIndex, ObjectBlobs};

use crate::support::shelf_of;

/// Which backend each port has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Pairing {
    log: Backend,
    index: Backend,
    blobs: Backend,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Backend {
    Memory,
    Sqlite,
    Server,
}

use Backend::{Memory, Server, Sqlite};

fn pairings() -> Vec<Pairing> {
    let mut pairings = Vec::new();
    for log in [Memory, Sqlite] {
        for index in [Memory, Sqlite, Server] {
            for blobs in [Memory, Sqlite, Server] {
                pairings.push(Pairing { log, index, blobs });
            }
        }
    }
    pairings.retain(|pairing| pairing.index == Server || pairing.blobs == Server);
    pairings
}

fn new_shelf(folders: &Mutex<Vec<tempfile::TempDir>>, pairing: Pairing) -> Shelf {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    let ports = Ports {
        log: match pairing.log {
            Sqlite => Arc::new(SqliteLog::open(&path.join("records.db")).unwrap()),
            Memory | Server => Arc::new(MemoryLog::default()),
        },
        index: match pairing.index {
            Memory => Arc::new(MemoryIndex::default()),
            Sqlite => Arc::new(SqliteIndex::open(&path.join("index")).unwrap()),
            Server => Arc::new(BucketedIndex::open(&path.join("index"), BucketOptions::default()).unwrap()),
        },
        blobs: match pairing.blobs {
            Memory => Arc::new(MemoryBlobs::default()),
            Sqlite => Arc::new(FileBlobs::open(&path.join("texts")).unwrap()),
            Server => Arc::new(ObjectBlobs::in_folder(&path.join("texts")).unwrap()),
        },
    };
    folders.lock().unwrap().push(folder);
    shelf_of(ports)
}

fn on_every_pairing(property: fn(NewShelf<'_>)) {
    for pairing in pairings() {
        let folders = Mutex::default();
        let outcome =
            std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| property(&|| new_shelf(&folders, pairing))));
        assert!(outcome.is_ok(), "failed with {pairing:?}");
    }
}

weir_records::contract_tests!(on_every_pairing);
