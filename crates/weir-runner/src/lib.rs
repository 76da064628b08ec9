//! Runs programs in a sandbox and forwards their output.
//!
//! A [`Spec`] describes a run: what to start, what it may see and what it may change. The program re-executes itself as
//! a helper ([`helper_main`]), which builds the sandbox from the inside and starts the run. [`run()`] starts the
//! helper, reads the output as it arrives, and ends the run when it times out, is cancelled or prints too much.
//!
//! Invariants:
//! - When [`run()`] returns, no process that the run started is alive.
//! - The same holds when the calling process dies, however it dies.
//! - Memory does not grow with the output.
//!
//! Linux only. [`seatbelt`] holds the profile that a sandbox on macOS would use.
//!
//! This is the only crate with `unsafe` code, for system calls that no library wraps. The deadline of a hook lives here
//! for the same reason.

pub mod broker;
mod codec;
mod confined;
mod control;
mod deadline;
pub mod egress;
#[doc(hidden)]
pub mod fuzzing;
mod helper;
mod outcome;
mod run;
pub mod runtimes;
mod sandbox;
pub mod seatbelt;
mod spec;
mod stop;
mod watch;

pub use confined::{Confined, Fences, Lost, serve};
pub use deadline::{call_off_deadline, set_deadline};
pub use helper::{HelperReaper, Ready, Supervisor, leave_session, start_detached};
pub use outcome::{Outcome, Problem, RunError};
pub use run::{Listeners, Run, run};
pub use sandbox::{helper_main, landlock_version};
pub use spec::{Caps, Level, Network, Spec, Streams};
pub use stop::Stopper;

/// The first argument that makes the program act as the helper.
pub const HELPER: &str = "sandbox-helper";

/// Port of the proxy to the allowed hosts, inside the sandbox.
pub const EGRESS_PORT: u16 = 3128;
/// Port of the broker for authenticated programs, inside the sandbox.
pub const BROKER_PORT: u16 = 3129;

/// Returns the memory of this machine in bytes, or `None` if `/proc/meminfo` does not say.
pub fn machine_memory() -> Option<u64> {
    static MEMORY: std::sync::OnceLock<Option<u64>> = std::sync::OnceLock::new();
    *MEMORY.get_or_init(|| {
        let about = std::fs::read_to_string("/proc/meminfo").ok()?;
        let line = about.lines().find_map(|line| line.strip_prefix("MemTotal:"))?;
        line.trim().strip_suffix(" kB")?.trim().parse::<u64>().ok().map(|kilobytes| kilobytes << 10)
    })
}
