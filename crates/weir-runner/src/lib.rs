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
//! That holds on Linux. On macOS a run needs the user's choice of a weaker sandbox ([`seatbelt`]), whose processes can
//! escape; Windows has no runs. docs/platforms.md says what each system has.
//!
//! This is the only crate with `unsafe` code, for system calls that no library wraps. The deadline of a hook lives here
//! for the same reason.

// Linux has a sandbox with helpers, a proxy and a broker. The other systems have `elsewhere`, under the same names.
#[cfg(target_os = "linux")]
pub mod broker;
#[cfg(target_os = "linux")]
mod codec;
#[cfg(target_os = "linux")]
mod confined;
#[cfg(target_os = "linux")]
mod control;
mod deadline;
mod detached;
#[cfg(target_os = "linux")]
pub mod egress;
#[cfg(not(target_os = "linux"))]
mod elsewhere;
mod file_size;
#[cfg(target_os = "linux")]
#[doc(hidden)]
pub mod fuzzing;
#[cfg(target_os = "linux")]
mod helper;
mod os;
mod outcome;
#[cfg(target_os = "linux")]
mod run;
pub mod runtimes;
mod sandbox;
pub mod seatbelt;
mod spec;
#[cfg(target_os = "linux")]
mod stop;
#[cfg(target_os = "linux")]
mod watch;

pub use deadline::{call_off_deadline, set_deadline};
pub use detached::start_detached;
pub use file_size::survive_file_size_limit;
pub use os::machine_memory;
pub(crate) use outcome::OVERLAY_STEP;
pub use outcome::{Lost, Outcome, Problem, RunError};
pub use spec::{Caps, Level, Listeners, Network, Overlay, Run, Spec, Streams};

#[cfg(not(target_os = "linux"))]
pub use elsewhere::{
    Confined, Fences, HelperReaper, Input, Listener, Ready, Stopper, Supervisor, helper_main, landlock_version,
    leave_session, run, serve,
};
#[cfg(target_os = "linux")]
pub use {
    confined::{Confined, Fences, serve},
    helper::{HelperReaper, Ready, Supervisor, leave_session},
    run::{Input, Listener, run},
    sandbox::{helper_main, landlock_version},
    stop::Stopper,
};

/// The first argument that makes the program act as the helper.
pub const HELPER: &str = "sandbox-helper";

/// Port of the proxy to the allowed hosts, inside the sandbox.
pub const EGRESS_PORT: u16 = 3128;
/// Port of the broker for authenticated programs, inside the sandbox.
pub const BROKER_PORT: u16 = 3129;
