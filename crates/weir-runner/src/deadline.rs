//! Ends this process at a deadline, whatever it is doing at that moment: by a signal where there are signals.

#[cfg(unix)]
mod signal;
#[cfg(windows)]
mod thread;

#[cfg(unix)]
pub use signal::{call_off_deadline, set_deadline};
#[cfg(windows)]
pub use thread::{call_off_deadline, set_deadline};
