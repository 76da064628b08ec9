//! Shows long texts on a terminal through the user's pager.

use std::ffi::{OsStr, OsString};
use std::io::{self, Write};
use std::process::{Child, ChildStdin, Command, Stdio};

use weir_host::env::Env;

/// The pager, if the user names none: it shows colours, leaves the text on the screen, and ends at once if all of it
/// fits.
const DEFAULT_PAGER: &str = "less -FRX";

/// Returns the command that starts the user's pager. Returns `None` if the user wants none.
pub(super) fn command(env: &Env) -> Option<OsString> {
    let pager = env.value("PAGER").unwrap_or(OsStr::new(DEFAULT_PAGER));
    let is_one = !matches!(pager.to_str().map(str::trim), Some("" | "cat"));
    is_one.then(|| pager.to_owned())
}

/// A pager that is running. What is written to it is shown.
pub(super) struct Pager {
    process: Child,
    input: Option<ChildStdin>,
}

impl Pager {
    /// Starts a pager. Returns `None` if it cannot be started.
    #[expect(clippy::disallowed_methods, reason = "the user's own pager, on their own terminal")]
    pub(super) fn start(command: &OsString) -> Option<Self> {
        let mut shell = Command::new("/bin/sh");
        // As for git: less shows colours, and ends if the text fits, unless the user has set it up.
        shell
            .arg("-c")
            .arg("LESS=${LESS-FRX}; export LESS; command -v \"${1%% *}\" >/dev/null || exec cat; eval \"$1\"");
        let mut process = shell.arg("sh").arg(command).stdin(Stdio::piped()).spawn().ok()?;
        let input = process.stdin.take();
        Some(Self { process, input })
    }

    /// Ends the text, and waits until the user has read it.
    pub(super) fn wait(mut self) {
        drop(self.input.take());
        let _ = self.process.wait();
    }
}

impl Write for Pager {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.input.as_mut().map_or(Ok(bytes.len()), |input| input.write(bytes))
    }

    fn flush(&mut self) -> io::Result<()> {
        self.input.as_mut().map_or(Ok(()), ChildStdin::flush)
    }
}
