// Attempts to undo the sandbox by system calls.
#include "probe.h"
#include <sys/fanotify.h>
#include <linux/filter.h>
#include <linux/landlock.h>
#include <linux/seccomp.h>
#include <pty.h>
#include <stddef.h>
#include <sys/mount.h>
#include <sys/ptrace.h>
#include <sys/shm.h>
#include <sys/timex.h>
#include <sys/uio.h>
#include <sys/un.h>

#define HIGH (1ULL << 32)

static long forked(unsigned long flags) {
  long child = syscall(SYS_clone, flags | SIGCHLD, 0, 0, 0, 0);
  if (child == 0) _exit(0);
  return child;
}

static long forked3(uint64_t flags) {
  uint64_t arguments[8] = {flags, 0, 0, 0, SIGCHLD};
  long child = syscall(SYS_clone3, arguments, sizeof arguments);
  if (child == 0) _exit(0);
  return child;
}

static void namespaces(void) {
  TRY_APART("14 unshare a user namespace", unshare(CLONE_NEWUSER));
  TRY_APART("+ unshare a mount namespace", unshare(CLONE_NEWNS));
  TRY_APART("+ unshare a process namespace", unshare(CLONE_NEWPID));
  TRY_APART("+ unshare a network namespace", unshare(CLONE_NEWNET));
  TRY_APART("+ unshare a control group namespace", unshare(CLONE_NEWCGROUP));
  TRY_APART("+ unshare a time namespace", unshare(0x80));
  CALL("+ unshare with bits that no flag has", SYS_unshare, CLONE_NEWUSER | 1ULL << 40);
  TRY_APART("+ clone into a user namespace", forked(CLONE_NEWUSER));
  TRY_APART("15 clone3 into a user namespace", forked3(CLONE_NEWUSER));
  TRY("17 open the namespace of the first process", shut(open("/proc/1/ns/mnt", O_RDONLY)));
  TRY("17 enter a namespace", setns(open("/proc/self/ns/uts", O_RDONLY), 0));
}

static void mounts(void) {
  TRY("16 mount", mount("none", "conf", "tmpfs", 0, NULL));
  TRY("16 mount a folder again to write to it", mount(NULL, HOME, NULL, MS_REMOUNT | MS_BIND, NULL));
  TRY("16 unmount a mask", umount2(".env", MNT_DETACH));
  CALL("+ pivot_root", SYS_pivot_root, ".", ".");
  TRY_APART("+ chroot", chroot("conf"));
  CALL("+ open_tree", SYS_open_tree, AT_FDCWD, ".env", 1);
  CALL("+ move_mount", SYS_move_mount, AT_FDCWD, ".env", AT_FDCWD, "conf", 0);
  CALL("+ fsopen", SYS_fsopen, "tmpfs", 0);
  CALL("+ fsconfig", SYS_fsconfig, -1, 0, 0, 0, 0);
  CALL("+ fsmount", SYS_fsmount, -1, 0, 0);
  CALL("+ fspick", SYS_fspick, AT_FDCWD, ".", 0);
  CALL("+ mount_setattr", SYS_mount_setattr, AT_FDCWD, HOME, 0, (uint64_t[4]){0, 1, 0, 0}, 32);
  CALL("+ open_tree_attr", 467, AT_FDCWD, ".env", 1, (uint64_t[4]){0, 1, 0, 0}, 32);
}

#ifdef __x86_64__
static long by_interrupt(long number, long a, long b, long c) {
  long result;
  __asm__ volatile("int $0x80" : "=a"(result) : "a"(number), "b"(a), "c"(b), "d"(c) : "memory", "r8", "r9", "r10", "r11");
  return result < 0 ? (errno = (int)-result, -1) : result;
}

static void other_numbers(void) {
  TRY_APART("18 make a socket by int 0x80", by_interrupt(359, AF_UNIX, SOCK_STREAM, 0));
  TRY_APART("+ mount by int 0x80", by_interrupt(21, 0, 0, 0));
  CALL("18 make a socket by its x32 number", 0x40000000L | SYS_socket, AF_UNIX, SOCK_STREAM, 0);
  CALL("+ ptrace by its x32 number", 0x40000000L | 521, 0, 0, 0, 0);
}
#else
#error "the probe of other numbers knows x86-64 only"
#endif

static int other_families(void) {
  for (int family = 0; family < 48; family++) {
    if (family == AF_INET || family == AF_INET6 || family == AF_NETLINK) continue;
    if (socket(family, SOCK_STREAM, 0) >= 0 || errno != EPERM) return -1;
    if (socket(family, SOCK_DGRAM, 0) >= 0 || errno != EPERM) return -1;
  }
  errno = EPERM;
  return -1;
}

static int reach_socket(const char *path, size_t skip, int kind) {
  struct sockaddr_un to = {.sun_family = AF_UNIX};
  snprintf(to.sun_path + skip, sizeof to.sun_path - skip, "%s", path);
  socklen_t length = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + skip + strlen(path) + !skip);
  int socket_ = socket(AF_UNIX, kind, 0);
  return socket_ < 0 ? -1 : connect(socket_, (struct sockaddr *)&to, length);
}

static int reach_by_pair(const char *path, int kind) {
  struct sockaddr_un to = {.sun_family = AF_UNIX};
  snprintf(to.sun_path, sizeof to.sun_path, "%s", path);
  int pair[2];
  if (socketpair(AF_UNIX, kind, 0, pair)) return -1;
  if (connect(pair[0], (struct sockaddr *)&to, sizeof to)) return -1;
  return (int)sendto(pair[0], "x", 1, 0, (struct sockaddr *)&to, sizeof to);
}

static void sockets(void) {
  int pair[2];
  TRY("30 make a socket to machines", shut(socket(AF_VSOCK, SOCK_STREAM, 0)));
  TRY("30 make a socket of packets", shut(socket(AF_PACKET, SOCK_RAW, 0)));
  TRY("30 make a socket of the kernel's ciphers", shut(socket(AF_ALG, SOCK_SEQPACKET, 0)));
  TRY("+ make a socket of any other family", other_families());
  CALL("+ make a socket with bits that no family has", SYS_socket, HIGH | AF_UNIX, SOCK_STREAM, 0);
  TRY("34 connect to a socket like docker's", reach_socket("docker.sock", 0, SOCK_STREAM));
  TRY("35 send from a pair of datagram sockets", reach_by_pair("datagrams.sock", SOCK_DGRAM));
  TRY("+ connect one of a pair of stream sockets", reach_by_pair("docker.sock", SOCK_STREAM));
  TRY("+ connect one of a pair of packet sockets", reach_by_pair("docker.sock", SOCK_SEQPACKET));
  TRY("36 connect to an abstract socket", reach_socket(told[3], 1, SOCK_STREAM));
  TRY("+ make a pair of packet sockets", socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair));
  TRY("+ make a pair of stream sockets", socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair));
}

static void memory(void) {
  struct iovec piece = {.iov_base = (void *)&piece, .iov_len = 8};
  TRY("37 read the machine's /dev/shm", can_read(told[4]));
  TRY("37 find the machine's shared memory", shmget((key_t)strtoul(told[5], NULL, 0), 0, 0));
  TRY("40 trace the first process", ptrace(PTRACE_SEIZE, 1, 0, 0));
  TRY_APART("40 be traced", ptrace(PTRACE_TRACEME, 0, 0, 0));
  TRY("40 read another process's memory", process_vm_readv(getpid(), &piece, 1, &piece, 1, 0));
  TRY("40 write another process's memory", process_vm_writev(getpid(), &piece, 1, &piece, 1, 0));
  CALL("+ take a descriptor of another process", SYS_pidfd_getfd, syscall(SYS_pidfd_open, getpid(), 0), 1, 0);
  CALL("+ compare processes", SYS_kcmp, getpid(), getpid(), 0, 1, 1);
  CALL("31 io_uring_setup", SYS_io_uring_setup, 1, (char[256]){0});
  CALL("+ io_uring_enter", SYS_io_uring_enter, -1, 0, 0, 0, 0, 0);
  CALL("+ io_uring_register", SYS_io_uring_register, -1, 0, 0, 0);
  CALL("+ userfaultfd", SYS_userfaultfd, 1);
  CALL("+ memfd_secret", SYS_memfd_secret, 0);
  CALL("+ fanotify_init", SYS_fanotify_init, FAN_REPORT_FID, O_RDONLY);
  CALL("+ modify_ldt", SYS_modify_ldt, 0, (char[16]){0}, 16);
}

// A terminal of the run's own, as its controlling terminal.
static int type_into(unsigned long request) {
  int main_end, end;
  if (openpty(&main_end, &end, NULL, NULL, NULL)) return -1;
  setsid();
  if (ioctl(end, TIOCSCTTY, 0)) return -1;
  return (int)syscall(SYS_ioctl, end, request, "x");
}

static void kernel(void) {
  struct timex times = {.modes = 0};
  TRY_APART("45 type into a terminal", type_into(TIOCSTI));
  TRY_APART("+ type into a terminal with bits that no request has", type_into(HIGH | TIOCSTI));
  TRY_APART("+ paste into a terminal", type_into(TIOCLINUX));
  CALL("+ bpf", SYS_bpf, 0, 0, 0);
  CALL("+ perf_event_open", SYS_perf_event_open, 0, 0, -1, -1, 0);
  CALL("+ keyctl", SYS_keyctl, 0, -3, 0, 0, 0);
  CALL("+ add_key", SYS_add_key, "user", "weir", "x", 1, -3);
  CALL("+ request_key", SYS_request_key, "user", "weir", 0, 0);
  CALL("+ syslog", SYS_syslog, 3, (char[64]){0}, 64);
  CALL("+ init_module", SYS_init_module, "", 0, "");
  CALL("+ finit_module", SYS_finit_module, -1, "", 0);
  CALL("+ kexec_load", SYS_kexec_load, 0, 0, 0, 0);
  CALL("+ reboot", SYS_reboot, 0, 0, 0, 0);
  CALL("+ swapon", SYS_swapon, "", 0);
  CALL("+ acct", SYS_acct, "");
  CALL("+ sethostname", SYS_sethostname, "weir", 4);
  CALL("+ settimeofday", SYS_settimeofday, 0, 0);
  CALL("+ clock_settime", SYS_clock_settime, 0, 0);
  CALL("+ adjtimex", SYS_adjtimex, &times);
  CALL("+ iopl", SYS_iopl, 0);
  CALL("+ open_by_handle_at", SYS_open_by_handle_at, -1, 0, 0);
  TRY("+ read the kernel's messages", can_read("/proc/kmsg"));
}

static int capabilities_again(void) {
  uint32_t head[2] = {0x20080522, 0}, sets[6] = {~0U, ~0U, ~0U, ~0U, ~0U, ~0U};
  return (int)syscall(SYS_capset, head, sets);
}

static int mount_with_own_filter(void) {
  struct sock_filter allow = {BPF_RET | BPF_K, 0, 0, SECCOMP_RET_ALLOW};
  struct sock_fprog program = {1, &allow};
  if (syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program)) return -1;
  return mount("none", "conf", "tmpfs", 0, NULL);
}

static int write_with_own_fence(void) {
  struct landlock_ruleset_attr attributes = {.handled_access_fs = LANDLOCK_ACCESS_FS_WRITE_FILE};
  struct landlock_path_beneath_attr all = {LANDLOCK_ACCESS_FS_WRITE_FILE, open("/", O_PATH)};
  int rules = (int)syscall(SYS_landlock_create_ruleset, &attributes, sizeof attributes, 0);
  if (rules < 0 || syscall(SYS_landlock_add_rule, rules, LANDLOCK_RULE_PATH_BENEATH, &all, 0)) return -1;
  if (syscall(SYS_landlock_restrict_self, rules, 0)) return -1;
  return can_write(in(HOME, ".bashrc"));
}

static void powers(void) {
  TRY("+ take capabilities", capabilities_again());
  TRY("+ take ambient capabilities", prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_RAISE, 21, 0, 0));
  TRY("+ allow new privileges", prctl(PR_SET_NO_NEW_PRIVS, 0, 0, 0, 0));
  TRY("+ leave the filter", prctl(PR_SET_SECCOMP, 0, 0, 0, 0));
  CALL("+ take groups", SYS_setgroups, 1, (gid_t[]){0});
  TRY_APART("+ mount behind a filter of one's own", mount_with_own_filter());
  TRY_APART("+ write .bashrc behind a fence of one's own", write_with_own_fence());
}

int main(int count, char **words) {
  if (count < 6) return 2;
  told = words;
  namespaces();
  mounts();
  other_numbers();
  sockets();
  memory();
  kernel();
  powers();
  return 0;
}
