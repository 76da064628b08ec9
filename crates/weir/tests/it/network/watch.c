/*
 * Notes every address of the internet that a program, or anything that it starts, uses in the network namespace that it
 * is started in.
 *
 *     watch REPORT PROGRAM [ARGUMENT...]
 *
 * REPORT gets a line `CALL FAMILY PORT` for each connect, bind, sendto, sendmsg and sendmmsg that names an address of
 * IPv4, IPv6 or a packet socket, and the last line `exit CODE` or `signal NUMBER`. Calls in other network namespaces,
 * which runs have, reach nothing and are not noted. A program that binds is a server, and is asked to end.
 *
 * The kernel asks this process about each of these calls (seccomp, user notification), so it makes no difference whether
 * a program calls libc or the kernel.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* How long a program may take, in seconds. */
enum { LIMIT = 60 };

static const struct call {
    const char *name;
    long number;
    /* The argument with the address, or with a message that begins with it. */
    int argument, is_message;
} calls[] = {
    {"connect", SYS_connect, 1, 0}, {"bind", SYS_bind, 1, 0},         {"sendto", SYS_sendto, 4, 0},
    {"sendmsg", SYS_sendmsg, 1, 1}, {"sendmmsg", SYS_sendmmsg, 1, 1},
};
enum { CALLS = sizeof calls / sizeof *calls };

static void die(const char *what)
{
    fprintf(stderr, "watch: %s: %s\n", what, strerror(errno));
    exit(120);
}

/* Installs the filter, and returns the descriptor on which the kernel asks. */
static int install(void)
{
    struct sock_filter program[2 * CALLS + 2];
    unsigned short length = 0;
    program[length++] = (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr));
    for (int i = 0; i < CALLS; i++) {
        program[length++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (unsigned)calls[i].number, 0, 1);
        program[length++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_USER_NOTIF);
    }
    program[length++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
    struct sock_fprog filter = {length, program};
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0)
        die("cannot set no_new_privs");
    int listener = (int)syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_NEW_LISTENER, &filter);
    if (listener < 0)
        die("cannot install the filter");
    return listener;
}

static ino_t network_of(const char *process)
{
    char path[64];
    struct stat about;
    snprintf(path, sizeof path, "/proc/%s/ns/net", process);
    return stat(path, &about) == 0 ? about.st_ino : 0;
}

/* Notes a call if it names an address of the internet, and returns whether it binds one. */
static int note(const struct seccomp_notif *asked, ino_t own, FILE *report)
{
    int binds = 0;
    char process[16], path[64];
    snprintf(process, sizeof process, "%u", asked->pid);
    snprintf(path, sizeof path, "/proc/%u/mem", asked->pid);
    if (network_of(process) != own)
        return 0;
    for (int i = 0; i < CALLS; i++) {
        if (calls[i].number != asked->data.nr)
            continue;
        uint64_t address = asked->data.args[calls[i].argument];
        uint16_t parts[2] = {0};
        int memory = open(path, O_RDONLY | O_CLOEXEC);
        /* What cannot be looked at counts. */
        int is_read = memory >= 0;
        if (is_read && calls[i].is_message)
            is_read = pread(memory, &address, sizeof address, (off_t)address) == sizeof address;
        if (is_read && address != 0)
            is_read = pread(memory, parts, sizeof parts, (off_t)address) == sizeof parts;
        if (memory >= 0)
            close(memory);
        if (!is_read)
            fprintf(report, "%s unreadable 0\n", calls[i].name);
        else if (parts[0] == AF_INET || parts[0] == AF_INET6 || parts[0] == AF_PACKET)
            fprintf(report, "%s %u %u\n", calls[i].name, parts[0], ntohs(parts[1]));
        else
            continue;
        binds = calls[i].number == SYS_bind;
    }
    return binds;
}

/* Answers the kernel until the program and everything that it started have ended, or some time after the program. */
static int supervise(int listener, pid_t child, FILE *report)
{
    struct seccomp_notif_sizes sizes;
    if (syscall(SYS_seccomp, SECCOMP_GET_NOTIF_SIZES, 0, &sizes) != 0)
        die("cannot ask for the sizes");
    struct seccomp_notif *asked = calloc(1, sizes.seccomp_notif);
    struct seccomp_notif_resp *answer = calloc(1, sizes.seccomp_notif_resp);
    int status = 0, has_ended = 0, patience = 2000;
    ino_t own = network_of("self");
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
        if (note(asked, own, report))
            kill(child, SIGTERM);
        memset(answer, 0, sizes.seccomp_notif_resp);
        answer->id = asked->id;
        answer->flags = SECCOMP_USER_NOTIF_FLAG_CONTINUE;
        ioctl(listener, SECCOMP_IOCTL_NOTIF_SEND, answer);
    }
    if (!has_ended)
        waitpid(child, &status, 0);
    return status;
}

int main(int count, char **arguments)
{
    if (count < 3) {
        fprintf(stderr, "usage: watch REPORT PROGRAM [ARGUMENT...]\n");
        return 120;
    }
    FILE *report = fopen(arguments[1], "we");
    if (report == NULL)
        die("cannot write the report");
    /* The child has the listener as its lowest free descriptor, and waits until this process has a copy of it. */
    int number[2], copied[2];
    if (pipe2(number, O_CLOEXEC) != 0 || pipe2(copied, O_CLOEXEC) != 0)
        die("cannot make a pipe");
    pid_t child = fork();
    if (child == 0) {
        char byte;
        int listener = install();
        if (write(number[1], &listener, sizeof listener) != sizeof listener || read(copied[0], &byte, 1) != 1)
            _exit(121);
        close(listener);
        execvp(arguments[2], arguments + 2);
        _exit(121);
    }
    int remote = -1;
    close(number[1]);
    if (read(number[0], &remote, sizeof remote) != sizeof remote)
        return 120;
    int process = (int)syscall(SYS_pidfd_open, child, 0);
    int listener = process < 0 ? -1 : (int)syscall(SYS_pidfd_getfd, process, remote, 0);
    if (listener < 0 || write(copied[1], "", 1) != 1)
        die("cannot get the descriptor of the filter");
    int status = supervise(listener, child, report);
    if (WIFSIGNALED(status))
        fprintf(report, "signal %d\n", WTERMSIG(status));
    else
        fprintf(report, "exit %d\n", WEXITSTATUS(status));
    fclose(report);
    return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}
