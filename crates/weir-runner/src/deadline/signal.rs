//! Ends this process at a deadline, whatever it is doing at that moment.
//!
//! Invariant: the signal handler only opens, writes and exits, which is safe at any point.

use std::ffi::CString;
use std::path::Path;
use std::ptr::null_mut;
use std::sync::atomic::{AtomicPtr, Ordering};

/// The line to append when the deadline passes, and the file it goes to.
struct LogLine {
    path: CString,
    line: Vec<u8>,
}

static LOG_LINE: AtomicPtr<LogLine> = AtomicPtr::new(null_mut());

/// Ends this process with exit code 0 after `seconds`, appending `line` to the file `log`. Call this once, and
/// [`call_off_deadline`] when the work is done.
#[expect(unsafe_code, reason = "no library sets a handler that is not its own")]
pub fn set_deadline(seconds: u32, log: &Path, line: String) {
    let Ok(path) = CString::new(log.as_os_str().as_encoded_bytes()) else { return };
    LOG_LINE.store(Box::into_raw(Box::new(LogLine { path, line: line.into_bytes() })), Ordering::Release);
    // SAFETY: the handler has the signature required without SA_SIGINFO and is async-signal-safe. The other calls only
    // require valid pointers.
    unsafe {
        let mut action: libc::sigaction = std::mem::zeroed();
        action.sa_sigaction = on_deadline as extern "C" fn(libc::c_int) as libc::sighandler_t;
        libc::sigaction(libc::SIGALRM, &raw const action, null_mut());
        // The parent process may have blocked the signal.
        let mut signals: libc::sigset_t = std::mem::zeroed();
        libc::sigemptyset(&raw mut signals);
        libc::sigaddset(&raw mut signals, libc::SIGALRM);
        libc::sigprocmask(libc::SIG_UNBLOCK, &raw const signals, null_mut());
        libc::alarm(seconds);
    }
}

/// Cancels the deadline set by [`set_deadline`].
#[expect(unsafe_code, reason = "no library wraps alarm")]
pub fn call_off_deadline() {
    // SAFETY: `alarm` has no preconditions.
    unsafe {
        libc::alarm(0);
    }
}

#[expect(unsafe_code, reason = "what is safe in a signal are system calls only")]
extern "C" fn on_deadline(_signal: libc::c_int) {
    let log_line = LOG_LINE.load(Ordering::Acquire);
    // SAFETY: the log line is never freed once it is set, and every call here is async-signal-safe.
    unsafe {
        if let Some(log_line) = log_line.as_ref() {
            let flags = libc::O_WRONLY | libc::O_APPEND | libc::O_CREAT | libc::O_NONBLOCK | libc::O_CLOEXEC;
            let log = libc::open(log_line.path.as_ptr(), flags, 0o600);
            if log >= 0 {
                libc::write(log, log_line.line.as_ptr().cast(), log_line.line.len());
            }
        }
        libc::_exit(0)
    }
}
