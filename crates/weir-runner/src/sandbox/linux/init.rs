//! The first process of a run: starts the steps in sequence, reaps orphans and listens for the end of the run.
//!
//! Invariant: no process of the run outlives this one. With a process namespace of its own, its death kills the others;
//! without one, it adopts orphans and kills until none is left.

use std::io;
use std::net::{Ipv4Addr, TcpListener};
use std::os::fd::{AsFd as _, FromRawFd as _, OwnedFd};
use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::net::UnixStream;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{DumpableBehavior, Pid, Signal, WaitOptions, WaitStatus};

use super::mounts::MountWatch;
use super::{Failure, FailureContext as _, child, memory, namespaces, view};
use crate::control::{self, Message, RunEnd};
use crate::sandbox::Isolation;
use crate::{BROKER_PORT, EGRESS_PORT, Level, Network, Spec};

/// Time for leftover processes to exit by themselves. It must be below one second, since only its nanoseconds are used.
const LEFTOVER_GRACE: Duration = Duration::from_millis(300);
const MEMORY_CHECK_INTERVAL: Duration = Duration::from_millis(200);

pub(super) fn run(socket: &UnixStream, isolation: Isolation) -> Result<(), Failure> {
    rustix::process::set_parent_process_death_signal(Some(Signal::KILL)).doing("tie this process to the helper")?;
    if isolation != Isolation::Bare {
        view::mount_processes().doing("mount /proc for the new processes")?;
    }
    let (spec, input) = control::receive_spec(socket).doing("read the description of the run")?;
    let (spec, filter) = &Spec::decode(&spec).doing("read the description of the run")?;
    // Files created for the run must be usable by it. The program gets the umask that it would have outside.
    let umask = rustix::process::umask(rustix::fs::Mode::from_raw_mode(0o022));
    if spec.level == Level::Full {
        view::limit_processes(spec.caps.processes);
        view::build(spec)?;
    } else {
        rustix::process::set_child_subreaper(Some(Pid::INIT)).doing("adopt orphans")?;
    }
    super::connect_stdin(input).doing("connect standard input")?;
    write_files(spec).doing("write the program's files")?;
    rustix::process::umask(umask);
    if spec.network == Network::Listeners {
        listen(socket).doing("listen inside the sandbox")?;
    }
    // From here on, no other process of the same user can inspect this one.
    rustix::process::set_dumpable_behavior(DumpableBehavior::NotDumpable).doing("make this process undumpable")?;
    let sources =
        EventSources { children: child_signals().doing("watch child processes")?, mounts: mount_changes(spec)? };
    let mut run_end = RunEnd::default();
    for (number, step) in spec.steps.iter().enumerate() {
        let Some(pid) = namespaces::fork().doing("fork")? else { child::become_program(spec, filter, step, socket) };
        run_end = RunEnd { step: number as u64, ..wait_for(pid, spec, socket, &sources) };
        if run_end.code != Some(0) {
            break;
        }
    }
    if run_end.code.is_some() || run_end.signal.is_some() {
        wait_for_others(spec, socket, &sources);
        run_end.left = count_left(spec.level);
    }
    run_end.cpu_micros = cpu_of_children();
    end(spec, || {
        // Ignore the error: the caller of the run may be gone.
        let _ = control::send(socket, &Message::RunEnd(run_end), &[]);
    })
}

/// Ends every process of the run, calls `tell`, and exits.
fn end(spec: &Spec, tell: impl FnOnce()) -> ! {
    if spec.level != Level::Full {
        kill_all();
        if let Some(scratch) = &spec.scratch {
            let _ = std::fs::remove_dir_all(scratch);
        }
    }
    tell();
    child::exit(0)
}

fn write_files(spec: &Spec) -> io::Result<()> {
    for (path, bytes) in &spec.files {
        path.parent().map_or(Ok(()), std::fs::create_dir_all)?;
        std::fs::write(path, bytes)?;
        // Some of the files are programs.
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o755))?;
    }
    Ok(())
}

/// Opens the listeners inside the sandbox and sends them to the caller, which serves them from outside.
fn listen(socket: &UnixStream) -> io::Result<()> {
    let egress = TcpListener::bind((Ipv4Addr::LOCALHOST, EGRESS_PORT))?;
    let broker = TcpListener::bind((Ipv4Addr::LOCALHOST, BROKER_PORT))?;
    control::send(socket, &Message::Listeners, &[egress.as_fd(), broker.as_fd()])
}

/// Waits for the program to end, while reaping other processes, checking memory and listening for the end of the run.
fn wait_for(pid: Pid, spec: &Spec, socket: &UnixStream, sources: &EventSources) -> RunEnd {
    let mut looked = Instant::now();
    loop {
        let mut waiting = vec![PollFd::new(socket, PollFlags::IN), PollFd::new(&sources.children, PollFlags::IN)];
        waiting.extend(sources.mounts.as_ref().map(|mounts| PollFd::new(mounts, PollFlags::PRI)));
        let timeout = Timespec { tv_sec: 0, tv_nsec: i64::from(MEMORY_CHECK_INTERVAL.subsec_nanos()) };
        let _ = poll(&mut waiting, Some(&timeout));
        if !waiting[0].revents().is_empty() {
            // Nothing is sent to this process after the spec, so an event means that the socket was closed.
            end(spec, || ());
        }
        let is_changed = waiting.get(2).is_some_and(|mounts| mounts.revents().contains(PollFlags::PRI));
        if is_changed && sources.mounts.as_ref().is_some_and(MountWatch::has_lost_one) {
            return RunEnd { unmasked: true, ..RunEnd::default() };
        }
        drain(&sources.children);
        if let Some(status) = reap(pid) {
            return RunEnd { code: status.exit_status(), signal: status.terminating_signal(), ..RunEnd::default() };
        }
        if looked.elapsed() >= MEMORY_CHECK_INTERVAL {
            looked = Instant::now();
            if memory::used(&processes(spec.level), spec) > spec.caps.memory_bytes {
                return RunEnd { memory: true, ..RunEnd::default() };
            }
        }
    }
}

/// Waits briefly for processes that the program left behind: the last process of a pipeline may end just after it.
fn wait_for_others(spec: &Spec, socket: &UnixStream, sources: &EventSources) {
    let until = Instant::now() + LEFTOVER_GRACE;
    while count_left(spec.level) > 0 {
        let left = until.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return;
        }
        let mut waiting = [PollFd::new(socket, PollFlags::IN), PollFd::new(&sources.children, PollFlags::IN)];
        let timeout = Timespec { tv_sec: 0, tv_nsec: i64::from(left.subsec_nanos()) };
        let _ = poll(&mut waiting, Some(&timeout));
        if !waiting[0].revents().is_empty() {
            end(spec, || ());
        }
        drain(&sources.children);
    }
}

struct EventSources {
    /// Readable when a child has ended.
    children: OwnedFd,
    /// Signals when a mount has changed.
    mounts: Option<MountWatch>,
}

fn mount_changes(spec: &Spec) -> Result<Option<MountWatch>, Failure> {
    if spec.level != Level::Full {
        return Ok(None);
    }
    MountWatch::new().doing("watch the mounts").map(Some)
}

/// Reaps all processes that have ended. Returns the status of `main` if it is among them.
fn reap(main: Pid) -> Option<WaitStatus> {
    let mut found = None;
    while let Ok(Some((pid, status))) = rustix::process::wait(WaitOptions::NOHANG) {
        if pid == main {
            found = Some(status);
        }
    }
    found
}

/// Returns a descriptor that is readable when a child has ended.
#[expect(unsafe_code, reason = "no library wraps signalfd")]
fn child_signals() -> io::Result<OwnedFd> {
    // SAFETY: the mask is emptied before it is used; the descriptor is new and ours.
    unsafe {
        let mut mask = std::mem::zeroed();
        libc::sigemptyset(&raw mut mask);
        libc::sigaddset(&raw mut mask, libc::SIGCHLD);
        if libc::sigprocmask(libc::SIG_BLOCK, &raw const mask, std::ptr::null_mut()) != 0 {
            return Err(io::Error::last_os_error());
        }
        match libc::signalfd(-1, &raw const mask, libc::SFD_CLOEXEC | libc::SFD_NONBLOCK) {
            -1 => Err(io::Error::last_os_error()),
            descriptor => Ok(OwnedFd::from_raw_fd(descriptor)),
        }
    }
}

fn drain(children: &OwnedFd) {
    let mut news = [0; 128];
    while rustix::io::read(children, &mut news).is_ok() {}
}

/// Counts the processes of the steps that are still running. Orphans become children of this process, so none is left
/// exactly when it has no child.
fn count_left(level: Level) -> u64 {
    loop {
        match rustix::process::wait(WaitOptions::NOHANG) {
            Ok(Some(_)) => {}
            Ok(None) => return processes(level).len() as u64,
            Err(_) => return 0,
        }
    }
}

/// Returns the processes of the run, without this one.
fn processes(level: Level) -> Vec<i32> {
    if level != Level::Full {
        return descendants();
    }
    let entries = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    let numbers = entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    numbers.filter(|&pid| pid != 1).collect()
}

fn descendants() -> Vec<i32> {
    let mut found = Vec::new();
    let mut parents = vec!["self".to_owned()];
    while let Some(parent) = parents.pop() {
        for task in std::fs::read_dir(format!("/proc/{parent}/task")).into_iter().flatten().flatten() {
            let children = std::fs::read_to_string(task.path().join("children")).unwrap_or_default();
            parents.extend(children.split_whitespace().map(str::to_owned));
            found.extend(children.split_whitespace().filter_map(|pid| pid.parse::<i32>().ok()));
        }
    }
    found
}

/// Kills until no process is left. Orphans become children of this process, so none is out of reach.
fn kill_all() {
    loop {
        for pid in descendants().into_iter().filter_map(Pid::from_raw) {
            let _ = rustix::process::kill_process(pid, Signal::KILL);
        }
        if rustix::process::wait(WaitOptions::empty()).is_err() {
            return;
        }
    }
}

#[expect(unsafe_code, reason = "no library wraps getrusage")]
fn cpu_of_children() -> u64 {
    // SAFETY: all zeroes is a valid value of this plain C struct, which the call fills in.
    let usage = unsafe {
        let mut usage: libc::rusage = std::mem::zeroed();
        libc::getrusage(libc::RUSAGE_CHILDREN, &raw mut usage);
        usage
    };
    let micros = |time: libc::timeval| time.tv_sec.cast_unsigned() * 1_000_000 + time.tv_usec.cast_unsigned();
    micros(usage.ru_utime) + micros(usage.ru_stime)
}
