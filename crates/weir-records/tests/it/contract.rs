//! Runs the contract on every pairing of the two backends of each port.

use std::sync::{Arc, Mutex};

use weir_records::contract::NewShelf;
use weir_records::memory::{MemoryBlobs, MemoryIndex, MemoryLog};
use weir_records::sqlite::{FileBlobs, SqliteIndex, SqliteLog};
use weir_records::{Ports, Shelf, Writer};

/// Makes a shelf for a pairing: for each port, whether it is on the disk.
fn new_shelf(folders: &Mutex<Vec<tempfile::TempDir>>, [log, index, blobs]: [bool; 3]) -> Shelf {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    let ports = Ports {
        log: if log {
            Arc::new(SqliteLog::open(&path.join("records.db")).unwrap())
        } else {
            Arc::new(MemoryLog::default())
        },
        index: if index {
            Arc::new(SqliteIndex::open(&path.join("index")).unwrap())
        } else {
            Arc::new(MemoryIndex::default())
        },
        blobs: if blobs {
            Arc::new(FileBlobs::open(&path.join("texts")).unwrap())
        } else {
            Arc::new(MemoryBlobs::default())
        },
    };
    folders.lock().unwrap().push(folder);
    Shelf::new(ports, Writer::new().unwrap())
}

fn on_every_pairing(property: fn(NewShelf<'_>)) {
    for pairing in 0..8u8 {
        let on_disk = [pairing & 1, pairing & 2, pairing & 4].map(|bit| bit != 0);
        let folders = Mutex::default();
        let outcome =
            std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| property(&|| new_shelf(&folders, on_disk))));
        let [log, index, blobs] = on_disk.map(|disk| if disk { "on disk" } else { "in memory" });
        assert!(outcome.is_ok(), "failed with log {log}, index {index}, blobs {blobs}");
    }
}

weir_records::contract_tests!(on_every_pairing);
