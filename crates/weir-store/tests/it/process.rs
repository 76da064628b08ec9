//! Starts this test binary again as another process, for tests that need several processes or must see one die.
//!
//! Invariant: no child outlives the test that started it.
#![expect(clippy::disallowed_methods, reason = "these tests are about processes, and the environment is their switch")]

use std::ffi::OsStr;
use std::process::{Child, Command, ExitStatus, Stdio};

/// Environment variable that marks a process as a child and contains its task. Without it, a child's test returns at
/// once.
const SWITCH: &str = "WEIR_STORE_TEST_CHILD";

/// Returns the task that the parent gave to this process, if it was started as a child.
pub(crate) fn task() -> Option<Vec<String>> {
    let task = std::env::var(SWITCH).ok()?;
    Some(task.split('\u{1f}').map(str::to_owned).collect())
}

pub(crate) fn child(test: &str, task: &[&str]) -> Command {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--exact", test, "--nocapture", "--test-threads=1"]).env(SWITCH, task.join("\u{1f}"));
    command.stdin(Stdio::null());
    command
}

/// Like [`child`], but wrapped in another command: `unshare`, `setpriv`, `sh`.
pub(crate) fn child_of(wrapper: &[&str], test: &str, task: &[&str]) -> Command {
    let inner = child(test, task);
    let mut command = Command::new(wrapper[0]);
    command.args(&wrapper[1..]).arg(inner.get_program()).args(inner.get_args()).stdin(Stdio::null());
    for (name, value) in inner.get_envs() {
        command.env(name, value.unwrap_or(OsStr::new("")));
    }
    command
}

/// Runs a command to its end, and asserts that it succeeds.
pub(crate) fn succeed(command: &mut Command) {
    let output = command.output().unwrap_or_else(|error| panic!("{command:?} does not start: {error}"));
    let talk = [output.stdout, output.stderr].map(|bytes| String::from_utf8_lossy(&bytes).into_owned()).concat();
    assert!(output.status.success(), "{command:?}: {}\n{talk}", output.status);
    // A filter that matches no test makes the harness succeed without doing anything.
    assert!(!talk.contains("running 0 tests"), "{command:?} ran no test\n{talk}");
}

/// A child that is killed when the test drops it.
pub(crate) struct ChildGuard(pub(crate) Child);

impl ChildGuard {
    /// Kills the child as `kill -9` does and waits until it is gone.
    pub(crate) fn kill(&mut self) -> ExitStatus {
        let _ = self.0.kill();
        self.0.wait().unwrap()
    }
}

impl Drop for ChildGuard {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}
