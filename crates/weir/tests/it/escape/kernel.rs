//! The kernel: system calls that would undo the sandbox, and the sockets and memory of other processes.

use std::fs;
use std::os::linux::net::SocketAddrExt as _;
use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::net::{SocketAddr, UnixDatagram, UnixListener};
use std::process::Command;

use super::world::{User, World};
use super::{Probe, ProbeArguments, check};

#[test]
fn a_user_cannot_undo_the_sandbox_by_system_calls() {
    check(User::Plain, &PROBE);
}

#[test]
fn root_cannot_undo_the_sandbox_by_system_calls() {
    check(User::Root, &PROBE);
}

/// Creates sockets in the project and without a name, a file in `/dev/shm`, and shared memory.
fn told(world: &World) -> ProbeArguments {
    let open = fs::Permissions::from_mode(0o666);
    let project = world.project();
    for name in ["docker.sock", "datagrams.sock"] {
        let _ = fs::remove_file(project.join(name));
    }
    let listener = UnixListener::bind(project.join("docker.sock")).unwrap();
    let datagrams = UnixDatagram::bind(project.join("datagrams.sock")).unwrap();
    // As unique as the world's folder.
    let name = project.ancestors().nth(2).unwrap().file_name().unwrap().to_str().unwrap().to_owned();
    let nameless = UnixListener::bind_addr(&SocketAddr::from_abstract_name(&name).unwrap()).unwrap();
    let file = tempfile::Builder::new().prefix("weir-escape-").tempfile_in("/dev/shm").unwrap();
    fs::write(file.path(), "shared").unwrap();
    for path in [&project.join("docker.sock"), &project.join("datagrams.sock"), file.path()] {
        fs::set_permissions(path, open.clone()).unwrap();
    }
    let memory = SharedMemory::new();
    let words = vec![name, file.path().to_str().unwrap().to_owned(), memory.key()];
    ProbeArguments { words, _kept: Box::new((listener, datagrams, nameless, file, memory)) }
}

/// System V shared memory that everyone may use. It is removed on drop.
struct SharedMemory(String);

impl SharedMemory {
    fn new() -> Self {
        let made = Command::new("ipcmk").args(["--shmem", "4096", "--mode", "0666"]).output().unwrap();
        let said = String::from_utf8(made.stdout).unwrap();
        Self(said.rsplit(' ').next().unwrap().trim().to_owned())
    }

    fn key(&self) -> String {
        let all = fs::read_to_string("/proc/sysvipc/shm").unwrap();
        let mut lines = all.lines().map(|line| line.split_whitespace().collect::<Vec<_>>());
        let key: i32 = lines.find(|line| line[1] == self.0).unwrap()[0].parse().unwrap();
        key.cast_unsigned().to_string()
    }
}

impl Drop for SharedMemory {
    fn drop(&mut self) {
        let _ = Command::new("ipcrm").args(["--shmem-id", &self.0]).output();
    }
}

pub(super) const PROBE: Probe = Probe {
    source: "kernel.c",
    told,
    rows: &[
        ("14 unshare a user namespace", "EPERM"),
        ("+ unshare a mount namespace", "EPERM"),
        ("+ unshare a process namespace", "EPERM"),
        ("+ unshare a network namespace", "EPERM"),
        ("+ unshare a control group namespace", "EPERM"),
        ("+ unshare a time namespace", "EPERM"),
        ("+ unshare with bits that no flag has", "EPERM"),
        ("+ clone into a user namespace", "EPERM"),
        ("15 clone3 into a user namespace", "ENOSYS"),
        ("17 open the namespace of the first process", "EACCES"),
        ("17 enter a namespace", "EPERM"),
        ("16 mount", "EPERM"),
        ("16 mount a folder again to write to it", "EPERM"),
        ("16 unmount a mask", "EPERM"),
        ("+ pivot_root", "EPERM"),
        ("+ chroot", "EPERM"),
        ("+ open_tree", "EPERM"),
        ("+ move_mount", "EPERM"),
        ("+ fsopen", "EPERM"),
        ("+ fsconfig", "EPERM"),
        ("+ fsmount", "EPERM"),
        ("+ fspick", "EPERM"),
        ("+ mount_setattr", "EPERM"),
        ("+ open_tree_attr", "EPERM"),
        ("18 make a socket by int 0x80", "signal 31"),
        ("+ mount by int 0x80", "signal 31"),
        ("18 make a socket by its x32 number", "ENOSYS"),
        ("+ ptrace by its x32 number", "ENOSYS"),
        ("30 make a socket to machines", "EPERM"),
        ("30 make a socket of packets", "EPERM"),
        ("30 make a socket of the kernel's ciphers", "EPERM"),
        ("+ make a socket of any other family", "EPERM"),
        ("+ make a socket with bits that no family has", "EPERM"),
        ("34 connect to a socket like docker's", "EPERM"),
        ("35 send from a pair of datagram sockets", "EPERM"),
        ("+ connect one of a pair of stream sockets", "EISCONN"),
        ("+ connect one of a pair of packet sockets", "EPROTOTYPE"),
        ("36 connect to an abstract socket", "EPERM"),
        ("+ make a pair of packet sockets", "works"),
        ("+ make a pair of stream sockets", "works"),
        ("37 read the machine's /dev/shm", "ENOENT"),
        ("37 find the machine's shared memory", "ENOENT"),
        ("40 trace the first process", "EPERM"),
        ("40 be traced", "EPERM"),
        ("40 read another process's memory", "EPERM"),
        ("40 write another process's memory", "EPERM"),
        ("+ take a descriptor of another process", "EPERM"),
        ("+ compare processes", "EPERM"),
        ("31 io_uring_setup", "EPERM"),
        ("+ io_uring_enter", "EPERM"),
        ("+ io_uring_register", "EPERM"),
        ("+ userfaultfd", "EPERM"),
        ("+ memfd_secret", "EPERM"),
        ("+ fanotify_init", "EPERM"),
        ("+ modify_ldt", "EPERM"),
        ("45 type into a terminal", "EPERM"),
        ("+ type into a terminal with bits that no request has", "EPERM"),
        ("+ paste into a terminal", "EPERM"),
        ("+ bpf", "EPERM"),
        ("+ perf_event_open", "EPERM"),
        ("+ keyctl", "EPERM"),
        ("+ add_key", "EPERM"),
        ("+ request_key", "EPERM"),
        ("+ syslog", "EPERM"),
        ("+ init_module", "EPERM"),
        ("+ finit_module", "EPERM"),
        ("+ kexec_load", "EPERM"),
        ("+ reboot", "EPERM"),
        ("+ swapon", "EPERM"),
        ("+ acct", "EPERM"),
        ("+ sethostname", "EPERM"),
        ("+ settimeofday", "EPERM"),
        ("+ clock_settime", "EPERM"),
        ("+ adjtimex", "EPERM"),
        ("+ iopl", "EPERM"),
        ("+ open_by_handle_at", "EPERM"),
        ("+ read the kernel's messages", "EACCES, root: EPERM"),
        ("+ take capabilities", "EPERM"),
        ("+ take ambient capabilities", "EPERM"),
        ("+ allow new privileges", "EINVAL"),
        ("+ leave the filter", "EINVAL"),
        ("+ take groups", "EPERM"),
        ("+ mount behind a filter of one's own", "EPERM"),
        ("+ write .bashrc behind a fence of one's own", "EROFS"),
    ],
};
