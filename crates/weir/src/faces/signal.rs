//! The signals by which a person or a client asks the program to end.

use std::time::Duration;

use tokio::signal::unix::{SignalKind, signal};

/// How long runs that are ended then have to keep what they printed.
pub(crate) const PATIENCE: Duration = Duration::from_secs(2);

/// Waits until one of them comes. A signal that is ignored, as `nohup` has it, stays ignored.
pub(crate) async fn asked_to_end() {
    let ignored = ignored();
    let wait_for = |kind: SignalKind| async move {
        if ignored >> (kind.as_raw_value() - 1) & 1 == 1 {
            return std::future::pending().await;
        }
        match signal(kind) {
            Ok(mut signal) => drop(signal.recv().await),
            // Without a way to hear of it, the signal does what it always did.
            Err(_) => std::future::pending().await,
        }
    };
    tokio::select! {
        () = wait_for(SignalKind::interrupt()) => {}
        () = wait_for(SignalKind::terminate()) => {}
        () = wait_for(SignalKind::hangup()) => {}
    }
}

/// The signals that whoever started this program told it to ignore, a bit for each.
fn ignored() -> u64 {
    let about = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = about.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).unwrap_or(0)
}
