//! A server that is a program: its process group, its standard streams, its last words.
//!
//! Invariants: the whole group ends with the connection, so that what `npx` started ends too; standard error is read
//! to its end and only its last lines are kept.

use std::collections::BTreeMap;
use std::io;
use std::path::Path;
use std::process::Stdio;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncReadExt as _};
use tokio::process::{Child, ChildStdin, ChildStdout, Command};
use weir_host::mutex::lock;

/// How much of standard error is kept, in bytes.
const MAX_STDERR_BYTES: usize = 4 << 10;
/// How long a server may take to end by itself once its input is closed.
const END_TIMEOUT: Duration = Duration::from_millis(500);

/// A server's process, with everything that it started.
pub(crate) struct Process {
    child: Option<Child>,
    group: Group,
    words: LastWords,
}

/// How to start a server.
pub(crate) struct Program<'a> {
    pub command: &'a str,
    pub args: &'a [String],
    pub env: &'a BTreeMap<String, String>,
    /// Where it is started.
    pub folder: &'a Path,
}

impl Process {
    /// Starts a program. It inherits the environment of this process, as if its client had started it.
    #[expect(
        clippy::disallowed_methods,
        reason = "a server is the user's program, and runs as its client would run it"
    )]
    pub(crate) fn start(program: &Program<'_>) -> io::Result<(Self, ChildStdout, ChildStdin)> {
        let mut command = Command::new(program.command);
        command.args(program.args).envs(program.env).current_dir(program.folder);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).kill_on_drop(true);
        #[cfg(unix)]
        command.process_group(0);
        let mut child = command.spawn()?;
        let group = Group::of(&child);
        let taken = || io::Error::other("a standard stream is missing");
        let (input, output) = child.stdin.take().zip(child.stdout.take()).ok_or_else(taken)?;
        let words = LastWords::default();
        if let Some(stderr) = child.stderr.take() {
            tokio::spawn(words.clone().follow(stderr));
        }
        Ok((Self { child: Some(child), group, words }, output, input))
    }

    /// Returns what the server writes to standard error, of which the last lines are kept.
    pub(crate) fn words(&self) -> LastWords {
        self.words.clone()
    }

    /// Waits a moment for the server to end, whose input is closed by now, and kills what is left of its group.
    pub(crate) async fn end(mut self) {
        if let Some(mut child) = self.child.take() {
            let _ = tokio::time::timeout(END_TIMEOUT, child.wait()).await;
            self.group.kill();
            let _ = tokio::time::timeout(END_TIMEOUT, child.wait()).await;
        }
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        if self.child.is_some() {
            self.group.kill();
        }
    }
}

/// The end of what a server wrote to standard error.
#[derive(Clone, Default)]
pub(crate) struct LastWords(Arc<Mutex<Vec<u8>>>);

impl LastWords {
    pub(crate) fn text(&self) -> String {
        String::from_utf8_lossy(&lock(&self.0)).trim().to_owned()
    }

    async fn follow(self, mut stderr: impl AsyncRead + Unpin) {
        let mut piece = [0; 1_024];
        while let Ok(read) = stderr.read(&mut piece).await
            && read > 0
        {
            let mut words = lock(&self.0);
            words.extend_from_slice(&piece[..read]);
            let over = words.len().saturating_sub(MAX_STDERR_BYTES);
            words.drain(..over);
        }
    }
}

/// A process group, where the system has them.
#[cfg(unix)]
struct Group(Option<rustix::process::Pid>);

#[cfg(unix)]
impl Group {
    fn of(child: &Child) -> Self {
        Self(child.id().and_then(|id| rustix::process::Pid::from_raw(id.cast_signed())))
    }

    fn kill(&self) {
        if let Some(group) = self.0 {
            let _ = rustix::process::kill_process_group(group, rustix::process::Signal::KILL);
        }
    }
}

#[cfg(not(unix))]
struct Group;

#[cfg(not(unix))]
impl Group {
    fn of(_: &Child) -> Self {
        Self
    }

    fn kill(&self) {}
}
