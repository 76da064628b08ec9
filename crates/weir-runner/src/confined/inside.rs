//! The inside of a confined process: gives up its privileges, then answers requests.

use std::io;
use std::process::ExitCode;

use rustix::process::{Resource, Rlimit, setrlimit};
use seccompiler::{
    BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter, SeccompRule,
};

use super::MAX_MESSAGE_BYTES;
use crate::sandbox::drop_capabilities;

/// Maximum processor time of a confined process over its lifetime.
pub(super) const MAX_CPU_SECONDS: u64 = 60;
/// Maximum memory that the process may map, including the program itself.
const MAX_MEMORY_BYTES: u64 = 1 << 30;

/// System calls that affect only memory, time and the process itself.
const ALLOWED: &[libc::c_long] = &[
    libc::SYS_brk,
    libc::SYS_munmap,
    libc::SYS_mremap,
    libc::SYS_madvise,
    libc::SYS_futex,
    libc::SYS_clock_gettime,
    libc::SYS_getrandom,
    // A crash uses these: the fault handler restores the default action, and an abort signals its own process.
    libc::SYS_rt_sigaction,
    libc::SYS_getpid,
    libc::SYS_gettid,
    libc::SYS_rt_sigprocmask,
    libc::SYS_rt_sigreturn,
    libc::SYS_sigaltstack,
    libc::SYS_restart_syscall,
    libc::SYS_sched_yield,
    libc::SYS_exit,
    libc::SYS_exit_group,
];

/// How a process is confined.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fences {
    /// A filter allows it to use its memory and its socket, and nothing else.
    Filtered,
    /// Only resource limits apply, since the kernel accepted no filter: it cannot open files, and its memory is
    /// bounded.
    Limited,
}

impl Fences {
    fn as_bytes(self) -> &'static [u8] {
        match self {
            Self::Filtered => b"filtered",
            Self::Limited => b"limited",
        }
    }

    pub(super) fn from_bytes(bytes: &[u8]) -> Option<Self> {
        [Self::Filtered, Self::Limited].into_iter().find(|fences| fences.as_bytes() == bytes)
    }
}

/// Confines this process, then answers requests from its standard input until that is closed. The process must have one
/// thread.
pub fn serve(answer: impl Fn(&[u8]) -> Vec<u8>) -> ExitCode {
    let Ok(fences) = confine() else { return ExitCode::FAILURE };
    loop {
        let Ok(request) = receive() else { return ExitCode::SUCCESS };
        // An empty request asks how this process is confined.
        let said = if request.is_empty() { send(fences.as_bytes()) } else { send(&answer(&request)) };
        if said.is_err() {
            return ExitCode::FAILURE;
        }
    }
}

pub(super) fn header(length: usize) -> io::Result<[u8; 4]> {
    match u32::try_from(length) {
        Ok(number) if length <= MAX_MESSAGE_BYTES => Ok(number.to_le_bytes()),
        _ => Err(io::ErrorKind::InvalidInput.into()),
    }
}

pub(super) fn length(header: [u8; 4]) -> io::Result<usize> {
    let length = u32::from_le_bytes(header) as usize;
    if length <= MAX_MESSAGE_BYTES { Ok(length) } else { Err(io::ErrorKind::InvalidData.into()) }
}

fn receive() -> io::Result<Vec<u8>> {
    let mut header = [0; 4];
    fill(&mut header)?;
    let mut request = vec![0; length(header)?];
    fill(&mut request)?;
    Ok(request)
}

fn fill(mut buffer: &mut [u8]) -> io::Result<()> {
    while !buffer.is_empty() {
        match rustix::io::retry_on_intr(|| rustix::io::read(rustix::stdio::stdin(), &mut *buffer))? {
            0 => return Err(io::ErrorKind::UnexpectedEof.into()),
            count => buffer = &mut buffer[count..],
        }
    }
    Ok(())
}

/// Writes to standard input, which is a bidirectional socket.
fn send(answer: &[u8]) -> io::Result<()> {
    let message = [&header(answer.len())?, answer].concat();
    let mut left = message.as_slice();
    while !left.is_empty() {
        let count = rustix::io::retry_on_intr(|| rustix::io::write(rustix::stdio::stdin(), left))?;
        left = &left[count..];
    }
    Ok(())
}

/// Takes away every privilege that answering does not need.
fn confine() -> io::Result<Fences> {
    close_others()?;
    // If the kernel refuses this, the limits below still apply, and the filter decides how the confinement is reported.
    let _ = drop_capabilities();
    let limits = [
        (Resource::As, MAX_MEMORY_BYTES),
        (Resource::Cpu, MAX_CPU_SECONDS),
        (Resource::Fsize, 0),
        (Resource::Nofile, 0),
        (Resource::Nproc, 0),
        // To the kernel 0 means no file, and 1 no dump at all.
        (Resource::Core, 1),
    ];
    for (resource, limit) in limits {
        let most = rustix::process::getrlimit(resource).maximum.unwrap_or(u64::MAX).min(limit);
        setrlimit(resource, Rlimit { current: Some(most), maximum: Some(most) })?;
    }
    rustix::thread::set_no_new_privs(true)?;
    let filter = compile().ok().and_then(|filter| seccompiler::apply_filter(&filter).ok());
    Ok(if filter.is_some() { Fences::Filtered } else { Fences::Limited })
}

fn compile() -> Result<BpfProgram, Box<dyn std::error::Error>> {
    let own_socket = || SeccompRule::new(vec![is(0, u64::MAX, 0)?]);
    // Executable memory is what an attack would need next.
    let no_program = || SeccompRule::new(vec![is(2, libc::PROT_EXEC as u64, 0)?]);
    let mut rules: std::collections::BTreeMap<i64, Vec<SeccompRule>> =
        ALLOWED.iter().map(|&call| (call, Vec::new())).collect();
    rules.insert(libc::SYS_read, vec![own_socket()?]);
    rules.insert(libc::SYS_write, vec![own_socket()?]);
    rules.insert(libc::SYS_tgkill, vec![SeccompRule::new(vec![is(0, u64::MAX, u64::from(std::process::id()))?])?]);
    rules.insert(libc::SYS_mmap, vec![no_program()?]);
    rules.insert(libc::SYS_mprotect, vec![no_program()?]);
    let eperm = SeccompAction::Errno(libc::EPERM as u32);
    let arch = std::env::consts::ARCH.try_into()?;
    Ok(SeccompFilter::new(rules, eperm, SeccompAction::Allow, arch)?.try_into()?)
}

fn is(argument: u8, mask: u64, value: u64) -> Result<SeccompCondition, seccompiler::BackendError> {
    SeccompCondition::new(argument, SeccompCmpArgLen::Qword, SeccompCmpOp::MaskedEq(mask), value)
}

/// Closes inherited descriptors other than the three standard streams.
#[expect(unsafe_code, reason = "no library wraps close_range")]
fn close_others() -> io::Result<()> {
    // SAFETY: a process that has just started owns no descriptors other than the standard streams.
    match unsafe { libc::syscall(libc::SYS_close_range, 3u32, u32::MAX, 0u32) } {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}
