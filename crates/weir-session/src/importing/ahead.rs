//! Reads transcripts ahead on a separate thread. Invariant: at most a few parts are read ahead.

use std::io;
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{SyncSender, sync_channel};

use weir_clients::transcript::{Part, Skipped};
use weir_host::error::CommandError;

use crate::replay::places::TranscriptLocation;

/// How many parts of transcripts may wait to be processed.
const MAX_WAITING_PARTS: usize = 8;

pub(super) enum TranscriptPiece {
    Part(Box<Part>),
    /// The end of the transcript, with what was skipped, or `None` if the file is not a transcript.
    End(io::Result<Option<Skipped>>),
}

/// Reads transcripts one after the other, and passes each piece to `take` with the position of its transcript. `take`
/// returns whether it wants more of that transcript.
pub(super) fn read(
    found: &[&TranscriptLocation],
    mut take: impl FnMut(usize, TranscriptPiece) -> Result<bool, CommandError>,
) -> Result<(), CommandError> {
    // Transcripts before this position are no longer needed.
    let wanted = AtomicUsize::new(0);
    std::thread::scope(|scope| {
        let (send, receive) = sync_channel(MAX_WAITING_PARTS);
        let reader = scope.spawn(|| read_all(found, &wanted, send));
        while let Ok((at, read)) = receive.recv() {
            if !take(at, read)? {
                wanted.store(at + 1, Ordering::Relaxed);
            }
        }
        reader.join().map_err(|_| CommandError::broken("the transcript reader failed unexpectedly"))
    })
}

fn read_all(found: &[&TranscriptLocation], wanted: &AtomicUsize, send: SyncSender<(usize, TranscriptPiece)>) {
    for (at, found) in found.iter().enumerate() {
        let read = found.stream(&mut |part| {
            let is_wanted = wanted.load(Ordering::Relaxed) <= at;
            match is_wanted && send.send((at, TranscriptPiece::Part(Box::new(part)))).is_ok() {
                true => ControlFlow::Continue(()),
                false => ControlFlow::Break(()),
            }
        });
        // The receiver is gone.
        if send.send((at, TranscriptPiece::End(read))).is_err() {
            return;
        }
    }
}
