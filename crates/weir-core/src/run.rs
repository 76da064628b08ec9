//! The result of a run, and the streams of a program.

crate::written_enum! {
    pub enum Ended {
        /// The program exited, or was ended by a signal that Weir did not send.
        Exited = "exited",
        /// The run exceeded its time limit.
        Timeout = "timeout",
        Cancelled = "cancelled",
        /// The run printed more than allowed.
        Quota = "quota",
        /// The run used more memory than allowed.
        Memory = "memory",
        /// A path that was hidden from the run was uncovered from outside.
        Unmasked = "unmasked",
        /// The run made a file again that Weir had moved away.
        Planted = "planted",
        /// The end of the run was not observed.
        Lost = "lost",
    }
}

crate::written_enum! {
    /// An output stream of a program.
    pub enum Stream {
        /// Standard output.
        Out = "stdout",
        /// Standard error.
        Err = "stderr",
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunFacts {
    /// The exit code, unless a signal ended the run.
    pub exit_code: Option<i32>,
    pub signal: Option<i32>,
    /// The duration, in milliseconds.
    pub millis: u64,
    /// The sandbox of the run, as the runner describes it.
    pub sandbox: String,
    pub ended: Ended,
}
