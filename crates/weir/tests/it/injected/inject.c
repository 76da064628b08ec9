/*
 * Fails one system call of a program and of everything that it starts: the n-th of a kind, with an error of choice.
 *
 *     inject REPORT KIND NTH ERROR PROGRAM [ARGUMENT...]
 *
 * KIND is a name from the table below, or `all`; NTH counts from 1, and 0 fails nothing. REPORT gets a line for each
 * kind with the number of its calls, a line `failed NAME` if a call was failed, and the last line `exit CODE` or
 * `signal NUMBER`. Calls before the program's own code, those of the loader, are neither counted nor failed, and
 * neither are those on a counter of the kernel (eventfd), which never fail in these ways.
 *
 * The kernel asks this process about each of these calls (seccomp, user notification), so it makes no difference whether
 * a program calls libc or the kernel.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* How long a program may take, in seconds. One that waits in vain is killed, so that the report names its trial. */
enum { LIMIT = 60 };

#if defined(__x86_64__)
#define ARCHITECTURE AUDIT_ARCH_X86_64
#elif defined(__aarch64__)
#define ARCHITECTURE AUDIT_ARCH_AARCH64
#else
#error "no table of system calls for this machine"
#endif

/* The first call that the runtime of a Rust program makes itself. */
#define BEGINS SYS_sigaltstack

struct call {
    const char *kind;
    long number;
};

static const struct call calls[] = {
#ifdef SYS_open
    {"open", SYS_open},
#endif
    {"open", SYS_openat},       {"open", SYS_openat2},
    {"read", SYS_read},         {"read", SYS_pread64},     {"read", SYS_readv},
    {"write", SYS_write},       {"write", SYS_pwrite64},   {"write", SYS_writev},
    {"sync", SYS_fsync},        {"sync", SYS_fdatasync},
#ifdef SYS_rename
    {"rename", SYS_rename},
#endif
#ifdef SYS_renameat
    {"rename", SYS_renameat},
#endif
    {"rename", SYS_renameat2},
#ifdef SYS_unlink
    {"unlink", SYS_unlink},     {"unlink", SYS_rmdir},
#endif
    {"unlink", SYS_unlinkat},
#ifdef SYS_stat
    {"stat", SYS_stat},         {"stat", SYS_lstat},       {"stat", SYS_access},
#endif
    {"stat", SYS_fstat},        {"stat", SYS_newfstatat},  {"stat", SYS_statx},
    {"stat", SYS_faccessat},
#ifdef SYS_mkdir
    {"mkdir", SYS_mkdir},
#endif
    {"mkdir", SYS_mkdirat},
#ifdef SYS_link
    {"link", SYS_link},
#endif
    {"link", SYS_linkat},
    {"truncate", SYS_ftruncate}, {"truncate", SYS_fallocate},
    {"lock", SYS_flock},        {"lock", SYS_fcntl},
    {"list", SYS_getdents64},
    {"map", SYS_mmap},
#ifdef SYS_chmod
    {"mode", SYS_chmod},
#endif
    {"mode", SYS_fchmod},       {"mode", SYS_fchmodat},
#ifdef SYS_readlink
    {"link", SYS_readlink},
#endif
    {"link", SYS_readlinkat},
    {"random", SYS_getrandom},
};
enum { CALLS = sizeof calls / sizeof *calls };

static void die(const char *what)
{
    fprintf(stderr, "inject: %s: %s\n", what, strerror(errno));
    exit(120);
}

static int is_wanted(const char *wanted, const char *kind)
{
    return strcmp(wanted, "all") == 0 || strcmp(wanted, kind) == 0;
}

/* Installs the filter, and returns the descriptor on which the kernel asks. */
static int install(const char *wanted)
{
    struct sock_filter program[8 * CALLS + 16];
    unsigned short length = 0;
#define ADD(...) program[length++] = (struct sock_filter)__VA_ARGS__
#define LOAD(field) ADD(BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, field)))
#define RETURN(value) ADD(BPF_STMT(BPF_RET | BPF_K, value))
#define UNLESS(value, skipped) ADD(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (unsigned)(value), 0, skipped))
#define IF(value, skipped) ADD(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (unsigned)(value), skipped, 0))
    LOAD(arch);
    IF(ARCHITECTURE, 1);
    RETURN(SECCOMP_RET_ALLOW);
    LOAD(nr);
    UNLESS(BEGINS, 1);
    RETURN(SECCOMP_RET_USER_NOTIF);
    for (int i = 0; i < CALLS; i++) {
        if (!is_wanted(wanted, calls[i].kind))
            continue;
        if (calls[i].number == SYS_fcntl) {
            /* Only what takes a lock. */
            UNLESS(SYS_fcntl, 7);
            LOAD(args[1]);
            IF(F_SETLK, 4);
            IF(F_SETLKW, 3);
            IF(F_OFD_SETLK, 2);
            IF(F_OFD_SETLKW, 1);
            RETURN(SECCOMP_RET_ALLOW);
            RETURN(SECCOMP_RET_USER_NOTIF);
        } else if (calls[i].number == SYS_mmap) {
            /* Only files: no program survives without memory. */
            UNLESS(SYS_mmap, 4);
            LOAD(args[4]);
            UNLESS(0xffffffffu, 1);
            RETURN(SECCOMP_RET_ALLOW);
            RETURN(SECCOMP_RET_USER_NOTIF);
        } else {
            UNLESS(calls[i].number, 1);
            RETURN(SECCOMP_RET_USER_NOTIF);
        }
    }
    RETURN(SECCOMP_RET_ALLOW);
    struct sock_fprog filter = {length, program};
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0)
        die("cannot set no_new_privs");
    int listener = (int)syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_NEW_LISTENER, &filter);
    if (listener < 0)
        die("cannot install the filter");
    return listener;
}

static void send_descriptor(int over, int descriptor)
{
    char byte = 0, control[CMSG_SPACE(sizeof descriptor)] = {0};
    struct iovec part = {&byte, 1};
    struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1, .msg_control = control, .msg_controllen = sizeof control};
    struct cmsghdr *header = CMSG_FIRSTHDR(&message);
    header->cmsg_level = SOL_SOCKET;
    header->cmsg_type = SCM_RIGHTS;
    header->cmsg_len = CMSG_LEN(sizeof descriptor);
    memcpy(CMSG_DATA(header), &descriptor, sizeof descriptor);
    if (sendmsg(over, &message, 0) != 1)
        die("cannot pass the descriptor on");
}

static int receive_descriptor(int over)
{
    char byte, control[CMSG_SPACE(sizeof(int))];
    struct iovec part = {&byte, 1};
    struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1, .msg_control = control, .msg_controllen = sizeof control};
    int descriptor = -1;
    if (recvmsg(over, &message, 0) == 1 && CMSG_FIRSTHDR(&message) != NULL)
        memcpy(&descriptor, CMSG_DATA(CMSG_FIRSTHDR(&message)), sizeof descriptor);
    return descriptor;
}

struct order {
    const char *kind;
    long nth;
    int error;
};

static long counts[CALLS];
static long wanted_calls;
static int begun;
static const char *failed;

/* Returns whether a call reads or writes a counter of the kernel, with which a runtime wakes its threads. */
static int is_on_counter(const struct seccomp_notif *asked)
{
    char path[64], target[64];
    if (asked->data.nr != SYS_read && asked->data.nr != SYS_write)
        return 0;
    snprintf(path, sizeof path, "/proc/%u/fd/%d", asked->pid, (int)asked->data.args[0]);
    ssize_t length = readlink(path, target, sizeof target - 1);
    if (length < 0)
        return 0;
    target[length] = 0;
    return strcmp(target, "anon_inode:[eventfd]") == 0;
}

/* Returns the error for a call, or 0 if it is to be made. */
static int judge(const struct seccomp_notif *asked, const struct order *order)
{
    long number = asked->data.nr;
    if (number == BEGINS) {
        begun = 1;
        return 0;
    }
    if (!begun || is_on_counter(asked))
        return 0;
    for (int i = 0; i < CALLS; i++) {
        if (calls[i].number != number)
            continue;
        counts[i]++;
        if (is_wanted(order->kind, calls[i].kind) && ++wanted_calls == order->nth) {
            failed = calls[i].kind;
            return order->error;
        }
        return 0;
    }
    return 0;
}

/* Answers the kernel until the program and everything that it started have ended, or `patience` milliseconds after the
 * program itself. */
static int supervise(int listener, pid_t child, const struct order *order)
{
    struct seccomp_notif_sizes sizes;
    if (syscall(SYS_seccomp, SECCOMP_GET_NOTIF_SIZES, 0, &sizes) != 0)
        die("cannot ask for the sizes");
    struct seccomp_notif *asked = calloc(1, sizes.seccomp_notif);
    struct seccomp_notif_resp *answer = calloc(1, sizes.seccomp_notif_resp);
    int status = 0, has_ended = 0, patience = 2000;
    time_t begin = time(NULL);
    while (patience > 0) {
        if (!has_ended && time(NULL) - begin > LIMIT)
            kill(child, SIGKILL);
        struct pollfd waiting = {listener, POLLIN, 0};
        int ready = poll(&waiting, 1, 20);
        if (!has_ended && waitpid(child, &status, WNOHANG) == child)
            has_ended = 1;
        if (ready > 0 && (waiting.revents & POLLHUP))
            break;
        if (ready <= 0 || !(waiting.revents & POLLIN)) {
            if (has_ended)
                patience -= 20;
            continue;
        }
        memset(asked, 0, sizes.seccomp_notif);
        if (ioctl(listener, SECCOMP_IOCTL_NOTIF_RECV, asked) != 0)
            continue;
        memset(answer, 0, sizes.seccomp_notif_resp);
        answer->id = asked->id;
        int error = judge(asked, order);
        if (error != 0)
            answer->error = -error;
        else
            answer->flags = SECCOMP_USER_NOTIF_FLAG_CONTINUE;
        ioctl(listener, SECCOMP_IOCTL_NOTIF_SEND, answer);
    }
    if (!has_ended)
        waitpid(child, &status, 0);
    return status;
}

int main(int count, char **arguments)
{
    if (count < 6) {
        fprintf(stderr, "usage: inject REPORT KIND NTH ERROR PROGRAM [ARGUMENT...]\n");
        return 120;
    }
    struct order order = {arguments[2], atol(arguments[3]), atoi(arguments[4])};
    int pair[2];
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) != 0)
        die("cannot make a socket");
    pid_t child = fork();
    if (child == 0) {
        int listener = install(order.kind);
        send_descriptor(pair[1], listener);
        close(listener);
        execvp(arguments[5], arguments + 5);
        _exit(121);
    }
    close(pair[1]);
    int listener = receive_descriptor(pair[0]);
    if (listener < 0)
        return 120;
    /* The program has its own standard streams to itself. */
    for (int i = 0; i < 2; i++)
        close(i);
    int status = supervise(listener, child, &order);
    FILE *report = fopen(arguments[1], "w");
    if (report == NULL)
        return 120;
    for (int i = 0; i < CALLS; i++)
        if (counts[i] > 0)
            fprintf(report, "count %s %ld\n", calls[i].kind, counts[i]);
    if (failed != NULL)
        fprintf(report, "failed %s\n", failed);
    if (WIFSIGNALED(status))
        fprintf(report, "signal %d\n", WTERMSIG(status));
    else
        fprintf(report, "exit %d\n", WEXITSTATUS(status));
    fclose(report);
    return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}
