//! Runs programs in a sandbox and hands on what they print.
//!
//! A run is described by a [`Spec`]: what to start, what it may see and change. The program re-executes itself as a
//! helper ([`helper_main`]), which builds the sandbox from the inside and starts the run; [`run()`] starts the helper,
//! reads the output as it comes, and ends the run when its time is over, when it is cancelled, or when it prints too
//! much. Invariants: when [`run()`] returns, nothing that the run started is alive; when the process that called it
//! dies, however it dies, the same is true; memory does not grow with the output.
//!
//! Linux only. What a sandbox on macOS would be told is in [`seatbelt`].
//!
//! This is the only crate with `unsafe` code: system calls that no library wraps. That is why the deadline of a hook is
//! here too.

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
pub use helper::{Farewell, Ready, Supervisor, leave_session};
pub use outcome::{Outcome, Problem, RunError};
pub use run::{Listeners, Run, run};
pub use sandbox::{helper_main, landlock_version};
pub use spec::{Caps, Level, Network, Spec, Streams};
pub use stop::Stopper;

/// The first argument that makes the program act as the helper.
pub const HELPER: &str = "sandbox-helper";

/// Where, inside the sandbox, the proxy to the allowed hosts listens.
pub const EGRESS_PORT: u16 = 3128;
/// Where, inside the sandbox, the broker of authenticated programs listens.
pub const BROKER_PORT: u16 = 3129;

/// How much memory this machine has.
pub fn machine_memory() -> Option<u64> {
    static MEMORY: std::sync::OnceLock<Option<u64>> = std::sync::OnceLock::new();
    *MEMORY.get_or_init(|| {
        let about = std::fs::read_to_string("/proc/meminfo").ok()?;
        let line = about.lines().find_map(|line| line.strip_prefix("MemTotal:"))?;
        line.trim().strip_suffix(" kB")?.trim().parse::<u64>().ok().map(|kilobytes| kilobytes << 10)
    })
}
