// container NAME… -- PROGRAM…: starts a program behind a filter of system calls as containers and older kernels have it.
#include "probe.h"
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>

static struct sock_filter filter[64];
static unsigned short length;

static void add(struct sock_filter step) { filter[length++] = step; }

static void deny(int call, int error) {
  add((struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, call, 0, 1));
  add((struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | error));
}

int main(int count, char **words) {
  told = words;
  int next = 1;
  add((struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)));
  for (; next < count && strcmp(words[next], "--"); next++) {
    if (!strcmp(words[next], "no-namespaces")) {
      deny(SYS_unshare, EPERM);
      deny(SYS_mount, EPERM);
      deny(SYS_clone3, ENOSYS);
    }
    if (!strcmp(words[next], "no-landlock")) {
      deny(SYS_landlock_create_ruleset, ENOSYS);
      deny(SYS_landlock_add_rule, ENOSYS);
      deny(SYS_landlock_restrict_self, ENOSYS);
    }
    if (!strcmp(words[next], "no-mounts")) deny(SYS_mount_setattr, EPERM);
    if (!strcmp(words[next], "no-enforcement")) deny(SYS_landlock_restrict_self, EPERM);
  }
  add((struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW));
  struct sock_fprog program = {length, filter};
  if (count < next + 2 || prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)) return 2;
  if (syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program)) return 2;
  execvp(words[next + 1], words + next + 1);
  return 2;
}
