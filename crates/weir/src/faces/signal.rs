//! The signals with which a person or a client ends the program.

use std::time::Duration;

use tokio::signal::unix::{SignalKind, signal};

/// How long runs that are ended by a signal have to store their output.
pub(crate) const SHUTDOWN_TIMEOUT: Duration = Duration::from_secs(2);

/// Waits until one of the signals arrives. A signal that is ignored, as with `nohup`, stays ignored.
pub(crate) async fn asked_to_end() {
    let ignored = ignored();
    let wait_for = |kind: SignalKind| async move {
        if ignored >> (kind.as_raw_value() - 1) & 1 == 1 {
            return std::future::pending().await;
        }
        match signal(kind) {
            Ok(mut signal) => drop(signal.recv().await),
            // If the signal cannot be handled, it keeps its default effect.
            Err(_) => std::future::pending().await,
        }
    };
    tokio::select! {
        () = wait_for(SignalKind::interrupt()) => {}
        () = wait_for(SignalKind::terminate()) => {}
        () = wait_for(SignalKind::hangup()) => {}
    }
}

/// Returns the signals that this program was started to ignore, one bit for each.
fn ignored() -> u64 {
    let about = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = about.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).unwrap_or(0)
}
