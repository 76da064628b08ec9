//! Runs the contract on a log in two databases, which get the tenants in turn.

use std::sync::{Arc, Mutex};

use weir_records::contract::NewShelf;
use weir_records::memory::{MemoryBlobs, MemoryIndex};
use weir_records::{Ports, Shelf, Writer};

use super::support::World;

fn on_two_cells(property: fn(NewShelf<'_>)) {
    let worlds: Mutex<Vec<World>> = Mutex::default();
    let new = || {
        let world = World::new();
        let ports = Ports {
            log: world.open(),
            index: Arc::new(MemoryIndex::default()),
            blobs: Arc::new(MemoryBlobs::default()),
        };
        worlds.lock().unwrap().push(world);
        Shelf::new(ports, Writer::new().unwrap())
    };
    property(&new);
}

weir_records::contract_tests!(on_two_cells);
