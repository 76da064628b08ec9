//! Reads transcripts ahead of what is done with them, on a thread of its own. Invariant: only so much is read ahead as fits a
//! few parts.

use std::io;
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{SyncSender, sync_channel};

use weir_clients::transcript::{Part, Skipped};

use crate::error::CommandError;
use crate::replay::places::Found;

/// How many parts of transcripts wait to be taken.
const WAITING: usize = 8;

/// What was read of a transcript.
pub(super) enum Read {
    /// A part of it.
    Part(Box<Part>),
    /// Its end: what was skipped; none when it is not a transcript.
    End(io::Result<Option<Skipped>>),
}

/// Reads transcripts one after the other, and hands on what was read of each by its position. `take` says whether it wants
/// more of that one.
pub(super) fn read(
    found: &[&Found],
    mut take: impl FnMut(usize, Read) -> Result<bool, CommandError>,
) -> Result<(), CommandError> {
    // Nothing more is wanted of the transcripts before this position.
    let wanted = AtomicUsize::new(0);
    std::thread::scope(|scope| {
        let (send, receive) = sync_channel(WAITING);
        let reader = scope.spawn(|| read_all(found, &wanted, send));
        while let Ok((at, read)) = receive.recv() {
            if !take(at, read)? {
                wanted.store(at + 1, Ordering::Relaxed);
            }
        }
        reader.join().map_err(|_| CommandError::broken("the transcript reader failed unexpectedly"))
    })
}

fn read_all(found: &[&Found], wanted: &AtomicUsize, send: SyncSender<(usize, Read)>) {
    for (at, found) in found.iter().enumerate() {
        let read = found.stream(&mut |part| {
            let is_wanted = wanted.load(Ordering::Relaxed) <= at;
            match is_wanted && send.send((at, Read::Part(Box::new(part)))).is_ok() {
                true => ControlFlow::Continue(()),
                false => ControlFlow::Break(()),
            }
        });
        // Nobody waits any more.
        if send.send((at, Read::End(read))).is_err() {
            return;
        }
    }
}
