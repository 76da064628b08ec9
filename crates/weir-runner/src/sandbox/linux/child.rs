//! The last steps before a program: drops capabilities, sets limits, restricts itself and executes the program.

use std::ffi::{CString, OsString};
use std::io::{self, Write as _};
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::net::UnixStream;

use rustix::process::{Resource, Rlimit, setrlimit};
use rustix::thread::{CapabilitySet, CapabilitySets};

use super::{Failure, FailureContext as _, fence, filter};
use crate::control::{self, Message};
use crate::{Level, Spec};

/// Executes the program. A restriction that cannot be applied is reported to the caller of the run over `socket`. A
/// program that does not start is reported on standard error, with the exit code that shells use.
pub(super) fn become_program(spec: &Spec, filter: &[u8], argv: &[OsString], socket: &UnixStream) -> ! {
    if let Err(Failure { step, why, refused }) = prepare(spec, filter) {
        let _ = control::send(socket, &Message::Failed { step, why, refused }, &[]);
        exit(126)
    }
    let error = execute(argv, &spec.environment);
    let _ = writeln!(
        io::stderr(),
        "weir: cannot start {}: {error}",
        argv.first().map_or("".into(), |word| word.display().to_string())
    );
    exit(if error.kind() == io::ErrorKind::NotFound { 127 } else { 126 })
}

/// Exits at once, without cleaning up what belongs to the parent.
#[expect(unsafe_code, reason = "a forked copy must not run the destructors of its parent")]
pub(super) fn exit(code: i32) -> ! {
    // SAFETY: the call does not return and accesses no memory.
    unsafe { libc::_exit(code) }
}

fn prepare(spec: &Spec, filter: &[u8]) -> Result<(), Failure> {
    reset_signals();
    limit(spec).doing("set limits")?;
    rustix::process::chdir(&spec.folder).doing(format!("enter {}", spec.folder.display()))?;
    close_others().doing("close descriptors")?;
    if spec.level == Level::None {
        return Ok(());
    }
    drop_capabilities().doing("drop capabilities")?;
    rustix::thread::set_no_new_privs(true).doing("set no_new_privs")?;
    match spec.level {
        Level::Full => fence::restrict_writes(spec).doing("use Landlock")?,
        // A spec with Seatbelt is refused before it gets here.
        _ => fence::restrict_all(spec).doing("use Landlock")?,
    }
    if filter.is_empty() {
        return Err("not supported on this processor").doing("apply the system call filter");
    }
    seccompiler::apply_filter(&filter::program(filter)).doing("apply the system call filter")
}

fn execute(argv: &[OsString], environment: &[(OsString, OsString)]) -> io::Error {
    let words: Result<Vec<CString>, _> = argv.iter().map(|word| CString::new(word.as_bytes())).collect();
    let pairs = environment.iter().map(|(name, value)| [name.as_bytes(), b"=", value.as_bytes()].concat());
    let pairs: Result<Vec<CString>, _> = pairs.map(CString::new).collect();
    match (words, pairs) {
        (Ok(words), Ok(pairs)) if !words.is_empty() => exec(&words, &pairs),
        (Err(error), _) | (_, Err(error)) => error.into(),
        _ => io::ErrorKind::InvalidInput.into(),
    }
}

#[expect(unsafe_code, reason = "exec without a fork, which the standard library offers only together with more")]
fn exec(words: &[CString], environment: &[CString]) -> io::Error {
    let list = |texts: &[CString]| -> Vec<*const libc::c_char> {
        texts.iter().map(|text| text.as_ptr()).chain([std::ptr::null()]).collect()
    };
    let (words, environment) = (list(words), list(environment));
    // SAFETY: every string ends with a zero byte and every list with a null pointer, and all of them outlive the call.
    unsafe { libc::execve(words[0], words.as_ptr(), environment.as_ptr()) };
    io::Error::last_os_error()
}

/// Resets ignored and blocked signals, which the program would inherit. Writing too large a file becomes an error
/// instead of a fatal signal.
#[expect(unsafe_code, reason = "no library wraps the plain setting of a signal's action")]
fn reset_signals() {
    // SAFETY: the default and ignore actions run no code of ours, and the mask is emptied before it is used.
    unsafe {
        // The only signal that Rust programs ignore.
        libc::signal(libc::SIGPIPE, libc::SIG_DFL);
        libc::signal(libc::SIGXFSZ, libc::SIG_IGN);
        let mut none = std::mem::zeroed();
        libc::sigemptyset(&raw mut none);
        libc::sigprocmask(libc::SIG_SETMASK, &raw const none, std::ptr::null_mut());
    }
}

fn limit(spec: &Spec) -> io::Result<()> {
    let both = |limit: u64| Rlimit { current: Some(limit), maximum: Some(limit) };
    let lower = |resource: Resource, limit: u64| -> io::Result<()> {
        let most = rustix::process::getrlimit(resource).maximum.unwrap_or(u64::MAX);
        Ok(setrlimit(resource, both(limit.min(most)))?)
    };
    // Prevents core dumps even where the system pipes them to a program: to the kernel 0 means no file, 1 no dump at
    // all.
    lower(Resource::Core, 1)?;
    lower(Resource::Fsize, spec.caps.file_bytes)?;
    // Counted per user namespace, so this is useful only in one of our own.
    if spec.level == Level::Full {
        lower(Resource::Nproc, spec.caps.processes)?;
    }
    Ok(())
}

pub(crate) fn drop_capabilities() -> io::Result<()> {
    let none = CapabilitySet::empty();
    // The bounding set comes first, since changing it needs a capability. Outside a user namespace the call fails, but
    // is not needed.
    for capability in CapabilitySet::all().iter() {
        let _ = rustix::thread::remove_capability_from_bounding_set(capability);
    }
    let _ = rustix::thread::clear_ambient_capability_set();
    rustix::thread::set_capabilities(None, CapabilitySets { effective: none, permitted: none, inheritable: none })?;
    Ok(())
}

/// Marks all other descriptors to be closed when the program starts.
#[expect(unsafe_code, reason = "no library wraps close_range")]
fn close_others() -> io::Result<()> {
    // SAFETY: the call only marks descriptors; none is closed before exec.
    match unsafe { libc::syscall(libc::SYS_close_range, 3u32, u32::MAX, libc::CLOSE_RANGE_CLOEXEC) } {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}
