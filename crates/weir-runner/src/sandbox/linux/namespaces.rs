//! Namespaces: one call creates all of them, with the user mapped to itself.

use std::io;

use rustix::process::Pid;
use rustix::thread::UnshareFlags;

use crate::sandbox::Isolation;

/// Enters new namespaces. Processes forked from now on are in the new process namespace; this process is not.
#[expect(unsafe_code, reason = "unshare can pull the ground from under other threads, of which there are none")]
pub(super) fn enter(isolation: Isolation) -> io::Result<()> {
    let (user, group) = (rustix::process::geteuid().as_raw(), rustix::process::getegid().as_raw());
    let mut flags = UnshareFlags::NEWUSER
        | UnshareFlags::NEWNS
        | UnshareFlags::NEWPID
        | UnshareFlags::NEWIPC
        | UnshareFlags::NEWUTS;
    if isolation == Isolation::Namespaces {
        flags |= UnshareFlags::NEWNET;
    }
    // SAFETY: the helper has one thread, and no flag unshares descriptors.
    unsafe { rustix::thread::unshare_unsafe(flags)? };
    // The kernel requires this before an unprivileged user may map a group.
    std::fs::write("/proc/self/setgroups", "deny")?;
    std::fs::write("/proc/self/uid_map", format!("{user} {user} 1"))?;
    std::fs::write("/proc/self/gid_map", format!("{group} {group} 1"))?;
    if isolation == Isolation::Namespaces {
        raise_loopback()?;
    }
    Ok(())
}

/// Brings up the loopback interface, which is down in a new network namespace.
#[expect(unsafe_code, reason = "no library wraps the requests that set an interface's flags")]
fn raise_loopback() -> io::Result<()> {
    use std::os::fd::AsRawFd as _;
    let socket = rustix::net::socket(rustix::net::AddressFamily::INET, rustix::net::SocketType::DGRAM, None)?;
    // SAFETY: all zeroes is a valid value of this plain C struct.
    let mut request: libc::ifreq = unsafe { std::mem::zeroed() };
    for (to, from) in request.ifr_name.iter_mut().zip(*b"lo") {
        // The type is signed on some processors.
        *to = from as libc::c_char;
    }
    request.ifr_ifru.ifru_flags = (libc::IFF_UP | libc::IFF_RUNNING) as i16;
    // SAFETY: the request has its name and flags set, and lives as long as the call.
    match unsafe { libc::ioctl(socket.as_raw_fd(), libc::SIOCSIFFLAGS as _, &raw const request) } {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}

/// Forks. Returns `None` in the child.
#[expect(unsafe_code, reason = "fork")]
pub(super) fn fork() -> io::Result<Option<Pid>> {
    // SAFETY: the helper has one thread, so the child may run any code.
    match unsafe { libc::fork() } {
        -1 => Err(io::Error::last_os_error()),
        pid => Ok(Pid::from_raw(pid)),
    }
}
