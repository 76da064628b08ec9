//! The system call filter: a BPF program, compiled once for each combination of sandbox level and network that needs
//! its own.
//!
//! It lists the denied calls and allows the rest, since a list of allowed calls would break programs with every new
//! kernel. The namespaces and the view are the boundary; the filter keeps programs from undoing them.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use seccompiler::{
    BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter, SeccompRule,
    sock_filter,
};

use crate::{Level, Network};

/// System calls that are denied whatever their arguments.
const DENIED: &[libc::c_long] = &[
    // The mount API could remove masks.
    libc::SYS_mount,
    libc::SYS_umount2,
    libc::SYS_pivot_root,
    libc::SYS_chroot,
    libc::SYS_open_tree,
    libc::SYS_move_mount,
    libc::SYS_fsopen,
    libc::SYS_fsconfig,
    libc::SYS_fsmount,
    libc::SYS_fspick,
    libc::SYS_mount_setattr,
    OPEN_TREE_ATTR,
    // Access to other namespaces and other processes.
    libc::SYS_setns,
    libc::SYS_ptrace,
    libc::SYS_process_vm_readv,
    libc::SYS_process_vm_writev,
    libc::SYS_pidfd_getfd,
    libc::SYS_kcmp,
    // Ways around the checks of other system calls.
    libc::SYS_io_uring_setup,
    libc::SYS_io_uring_enter,
    libc::SYS_io_uring_register,
    libc::SYS_name_to_handle_at,
    libc::SYS_open_by_handle_at,
    libc::SYS_userfaultfd,
    // Memory that the memory watch cannot see, and notifications about other files.
    libc::SYS_memfd_secret,
    libc::SYS_fanotify_init,
    // The session's keyrings.
    libc::SYS_keyctl,
    libc::SYS_add_key,
    libc::SYS_request_key,
    // The kernel itself.
    libc::SYS_bpf,
    libc::SYS_perf_event_open,
    libc::SYS_init_module,
    libc::SYS_finit_module,
    libc::SYS_delete_module,
    libc::SYS_kexec_load,
    KEXEC_FILE_LOAD,
    libc::SYS_reboot,
    libc::SYS_swapon,
    libc::SYS_swapoff,
    libc::SYS_acct,
    libc::SYS_quotactl,
    libc::SYS_quotactl_fd,
    libc::SYS_syslog,
    libc::SYS_sethostname,
    libc::SYS_setdomainname,
    libc::SYS_settimeofday,
    libc::SYS_clock_settime,
    libc::SYS_clock_adjtime,
    libc::SYS_adjtimex,
    libc::SYS_vhangup,
];

/// Calls with a mode and the place of that argument, and calls that open a file, which only older processors have.
#[cfg(target_arch = "x86_64")]
const OLD_SET_MODE: &[(libc::c_long, u8)] = &[(libc::SYS_chmod, 1), (libc::SYS_creat, 1), (libc::SYS_mknod, 1)];
#[cfg(not(target_arch = "x86_64"))]
const OLD_SET_MODE: &[(libc::c_long, u8)] = &[];
#[cfg(target_arch = "x86_64")]
const OLD_OPEN: &[(libc::c_long, u8)] = &[(libc::SYS_open, 1)];
#[cfg(not(target_arch = "x86_64"))]
const OLD_OPEN: &[(libc::c_long, u8)] = &[];

/// `libc` has no constant for it with musl on every processor.
const KEXEC_FILE_LOAD: libc::c_long = if cfg!(target_arch = "x86_64") { 320 } else { 294 };
/// Newer than the constants of `libc`.
const OPEN_TREE_ATTR: libc::c_long = 467;
const FCHMODAT2: libc::c_long = 452;

/// System calls reported as missing, so programs fall back to older ones whose arguments the filter can inspect.
const ABSENT: &[libc::c_long] = &[libc::SYS_clone3, libc::SYS_openat2];

/// On x86-64, numbers from here on are aliases of the same calls, which the filter would not recognise.
#[cfg(target_arch = "x86_64")]
const X32: u32 = 0x4000_0000;

/// System V shared memory.
const SHARED_MEMORY: &[libc::c_long] = &[libc::SYS_shmget, libc::SYS_shmat];

/// Socket families that a program may use.
const FAMILIES: &[i32] = &[libc::AF_INET, libc::AF_INET6, libc::AF_NETLINK];

/// Returns the compiled filter as bytes. They are empty if it cannot be compiled, which the helper treats as a failure.
///
/// Without a network namespace, the filter denies all sockets, which also disables loopback. Without an IPC namespace,
/// it denies System V shared memory, since that would be shared with the whole machine.
pub(crate) fn bytes(level: Level, network: Network) -> &'static [u8] {
    static USUAL: LazyLock<Vec<u8>> = LazyLock::new(|| to_bytes(&compile(FAMILIES, &[]).unwrap_or_default()));
    static SHARED: LazyLock<Vec<u8>> =
        LazyLock::new(|| to_bytes(&compile(FAMILIES, SHARED_MEMORY).unwrap_or_default()));
    static OFFLINE: LazyLock<Vec<u8>> = LazyLock::new(|| to_bytes(&compile(&[], SHARED_MEMORY).unwrap_or_default()));
    match (level, network) {
        (Level::Full | Level::Seatbelt | Level::None, _) => &USUAL,
        (Level::Landlock, Network::Host) => &SHARED,
        (Level::Landlock, _) => &OFFLINE,
    }
}

fn to_bytes(program: &[sock_filter]) -> Vec<u8> {
    let op = |op: &sock_filter| {
        let [a, b] = op.code.to_ne_bytes();
        let [c, d, e, f] = op.k.to_ne_bytes();
        [a, b, op.jt, op.jf, c, d, e, f]
    };
    program.iter().flat_map(op).collect()
}

pub(super) fn program(bytes: &[u8]) -> BpfProgram {
    let (ops, _) = bytes.as_chunks::<8>();
    let op = |&[a, b, jt, jf, rest @ ..]: &[u8; 8]| sock_filter {
        code: u16::from_ne_bytes([a, b]),
        jt,
        jf,
        k: u32::from_ne_bytes(rest),
    };
    ops.iter().map(op).collect()
}

fn compile(families: &[i32], denied: &[libc::c_long]) -> Result<BpfProgram, Box<dyn std::error::Error>> {
    let mut rules: BTreeMap<i64, Vec<SeccompRule>> =
        DENIED.iter().chain(denied).map(|&call| (call, Vec::new())).collect();
    rules.extend(argument_rules(families)?);
    let eperm = SeccompAction::Errno(libc::EPERM as u32);
    let arch = std::env::consts::ARCH.try_into()?;
    let main: BpfProgram = SeccompFilter::new(rules, SeccompAction::Allow, eperm, arch)?.try_into()?;
    Ok([guard(), main].concat())
}

type FilterRules = Vec<(i64, Vec<SeccompRule>)>;

/// Returns the system calls that are denied only with certain arguments.
fn argument_rules(families: &[i32]) -> Result<FilterRules, seccompiler::BackendError> {
    let mut rules: FilterRules = Vec::new();
    let namespaces = [
        libc::CLONE_NEWNS,
        libc::CLONE_NEWCGROUP,
        libc::CLONE_NEWUTS,
        libc::CLONE_NEWIPC,
        libc::CLONE_NEWUSER,
        libc::CLONE_NEWPID,
        libc::CLONE_NEWNET,
    ];
    let any_namespace = || namespaces.iter().map(|&flag| rule(&[has(0, flag as u64)?])).collect::<Result<Vec<_>, _>>();
    rules.push((libc::SYS_clone, any_namespace()?));
    // In `clone`, this bit is part of the signal number.
    let time = rule(&[has(0, libc::CLONE_NEWTIME as u64)?])?;
    rules.push((libc::SYS_unshare, [any_namespace()?, vec![time]].concat()));

    let other_family: Vec<_> = families.iter().map(|&family| is_not(0, family as u64)).collect::<Result<_, _>>()?;
    let other_netlink = [is(0, libc::AF_NETLINK as u64)?, is_not(2, libc::NETLINK_ROUTE as u64)?];
    let sockets = if families.is_empty() { Vec::new() } else { vec![rule(&other_family)?, rule(&other_netlink)?] };
    rules.push((libc::SYS_socket, sockets));
    // One end of a datagram pair can send to any socket of the host; the other types keep their one peer.
    let connected = [libc::SOCK_STREAM as u64, libc::SOCK_SEQPACKET as u64];
    let types = (0..16).filter(|kind| !connected.contains(kind));
    let pairs = types.map(|kind| rule(&[masked(1, 0xf, kind)?])).collect::<Result<_, _>>()?;
    rules.push((libc::SYS_socketpair, pairs));

    // Injecting input into a terminal.
    let requests = [u64::from(libc::TIOCSTI as u32), u64::from(libc::TIOCLINUX as u32)];
    rules.push((libc::SYS_ioctl, requests.iter().map(|&request| rule(&[is(1, request)?])).collect::<Result<_, _>>()?));

    // Changing another process's limits: the memory watch relies on those of the first process.
    let given = SeccompCondition::new(2, SeccompCmpArgLen::Qword, SeccompCmpOp::Ne, 0)?;
    rules.push((libc::SYS_prlimit64, vec![rule(&[is_not(0, 0)?, given])?]));

    // A set-user-ID or set-group-ID file outlives the sandbox. The filter cannot tell a file from a folder, so the
    // set-group-ID bit cannot be set on folders either; new folders still inherit it.
    const RUNS_AS: [u64; 2] = [libc::S_ISUID as u64, libc::S_ISGID as u64];
    let set_mode = [(libc::SYS_fchmod, 1), (libc::SYS_fchmodat, 2), (FCHMODAT2, 2), (libc::SYS_mknodat, 2)];
    for &(call, mode) in set_mode.iter().chain(OLD_SET_MODE) {
        rules.push((call, RUNS_AS.iter().map(|&bit| rule(&[has(mode, bit)?])).collect::<Result<_, _>>()?));
    }
    for &(call, flags) in [(libc::SYS_openat, 2)].iter().chain(OLD_OPEN) {
        // The mode matters only if a file is created, named or unnamed.
        let making = [libc::O_CREAT, libc::O_TMPFILE & !libc::O_DIRECTORY];
        let made = making.iter().flat_map(|&flag| RUNS_AS.map(|bit| (flag as u64, bit)));
        let denied = made.map(|(flag, bit)| rule(&[has(flags, flag)?, has(flags + 1, bit)?]));
        rules.push((call, denied.collect::<Result<_, _>>()?));
    }
    #[cfg(target_arch = "x86_64")]
    rules.extend([libc::SYS_iopl, libc::SYS_ioperm, libc::SYS_modify_ldt].map(|call| (call, Vec::new())));
    Ok(rules)
}

fn rule(conditions: &[SeccompCondition]) -> Result<SeccompRule, seccompiler::BackendError> {
    SeccompRule::new(conditions.to_vec())
}

fn is(argument: u8, value: u64) -> Result<SeccompCondition, seccompiler::BackendError> {
    SeccompCondition::new(argument, SeccompCmpArgLen::Dword, SeccompCmpOp::Eq, value)
}

fn is_not(argument: u8, value: u64) -> Result<SeccompCondition, seccompiler::BackendError> {
    SeccompCondition::new(argument, SeccompCmpArgLen::Dword, SeccompCmpOp::Ne, value)
}

fn has(argument: u8, bit: u64) -> Result<SeccompCondition, seccompiler::BackendError> {
    masked(argument, bit, bit)
}

fn masked(argument: u8, mask: u64, value: u64) -> Result<SeccompCondition, seccompiler::BackendError> {
    SeccompCondition::new(argument, SeccompCmpArgLen::Dword, SeccompCmpOp::MaskedEq(mask), value)
}

/// Returns the instructions before the compiled rules: they handle numbers that the compiler does not know, and calls
/// to report as missing. Calls of another architecture reach the rules, which end the process.
fn guard() -> BpfProgram {
    const LOAD: u16 = (libc::BPF_LD | libc::BPF_W | libc::BPF_ABS) as u16;
    const EQUAL: u16 = (libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K) as u16;
    const RETURN: u16 = (libc::BPF_RET | libc::BPF_K) as u16;
    let mut program = vec![sock_filter { code: LOAD, jt: 0, jf: 0, k: 0 }];
    let absent = sock_filter { code: RETURN, jt: 0, jf: 0, k: libc::SECCOMP_RET_ERRNO | libc::ENOSYS as u32 };
    #[cfg(target_arch = "x86_64")]
    {
        const AT_LEAST: u16 = (libc::BPF_JMP | libc::BPF_JGE | libc::BPF_K) as u16;
        program.extend([sock_filter { code: AT_LEAST, jt: 0, jf: 1, k: X32 }, absent.clone()]);
    }
    for &call in ABSENT {
        program.extend([sock_filter { code: EQUAL, jt: 0, jf: 1, k: call as u32 }, absent.clone()]);
    }
    program
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_filter_compiles_and_comes_back_as_it_went() {
        for (level, families, denied) in [(Level::Full, FAMILIES, &[][..]), (Level::Landlock, &[], SHARED_MEMORY)] {
            let compiled = compile(families, denied).unwrap();
            assert!(compiled.len() > 100 && compiled.len() < 4096, "{}", compiled.len());
            assert_eq!(program(bytes(level, Network::Off)), compiled);
        }
    }
}
