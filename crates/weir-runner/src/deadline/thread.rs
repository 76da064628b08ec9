//! The deadline as a thread, for a system without signals. Invariant: once it is called off, nothing happens.

use std::io::Write as _;
use std::path::Path;
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

static CALL_OFF: Mutex<Option<Sender<()>>> = Mutex::new(None);

/// Ends this process with exit code 0 after `seconds`, appending `line` to the file `log`. Call this once, and
/// [`call_off_deadline`] when the work is done.
pub fn set_deadline(seconds: u32, log: &Path, line: String) {
    let (call_off, called_off) = channel();
    *CALL_OFF.lock().unwrap_or_else(PoisonError::into_inner) = Some(call_off);
    let log = log.to_owned();
    // Without a thread there is no deadline, and the client's own still applies.
    let _ = std::thread::Builder::new().spawn(move || {
        if called_off.recv_timeout(Duration::from_secs(seconds.into())) != Err(RecvTimeoutError::Timeout) {
            return;
        }
        // Held to the end, so that an answer is not begun meanwhile.
        let call_off = CALL_OFF.lock().unwrap_or_else(PoisonError::into_inner);
        if call_off.is_some() {
            end(&log, &line);
        }
    });
}

/// Cancels the deadline set by [`set_deadline`].
pub fn call_off_deadline() {
    CALL_OFF.lock().unwrap_or_else(PoisonError::into_inner).take();
}

#[expect(
    clippy::disallowed_methods,
    reason = "the thread that would return from `main` is the one that takes too long"
)]
fn end(log: &Path, line: &str) {
    if let Ok(mut log) = std::fs::File::options().append(true).create(true).open(log) {
        let _ = log.write_all(line.as_bytes());
    }
    std::process::exit(0)
}
