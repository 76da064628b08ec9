//! Runs programs in a sandbox and forwards their output.
//!
//! A [`Spec`] describes a run: what to start, what it may see and what it may change. [`run()`] starts a helper, reads
//! the output as it arrives, and ends the run when it times out, is cancelled or prints too much. The helper is this
//! program again ([`helper_main`]), so that it has one thread and may fork; it builds the sandbox from the inside. It
//! gets the spec over a socket, and the run ends when that socket closes, which the kernel does however its owner dies.
//! A server keeps one helper ready, with its namespaces made, for the next run.
//!
//! The crate also has the languages ([`runtimes`]), the proxy to allowed hosts ([`egress`]), the broker of programs
//! with credentials ([`broker`]), and confined processes for parsers of hostile bytes. What a run may see and do is
//! decided elsewhere (`weir-policy`, `weir-run`).
//!
//! This is the only crate with `unsafe` code, for system calls that no library wraps. The deadline of a hook lives here
//! for the same reason.
//!
//! # Invariants
//!
//! - When [`run()`] returns, no process that the run started is alive. When its caller is killed, the same is true a
//!   moment later.
//! - Memory does not grow with the output.
//! - Everything that must stay reachable is opened before anything is hidden, and never through a symbolic link.
//! - The outcome names the sandbox that the run had, and a mask that is lost ends the run.
//! - Only the words that the policy granted are brokered, and a connection is made only to an address that was checked.
//!
//! That holds on Linux. On macOS a run needs the user's choice of a weaker sandbox ([`seatbelt`]), whose processes can
//! escape; Windows has no runs. docs/platforms.md says what each system has.
//!
//! # The processes of a run
//!
//! ```text
//! run              spec and control socket; reads the pipes (watch)
//! └ helper         namespaces
//!   └ init         the view of the files, /proc; reaps orphans; its death ends the rest
//!     └ child      capabilities, limits, Landlock, the filter, then the program
//! ```

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
