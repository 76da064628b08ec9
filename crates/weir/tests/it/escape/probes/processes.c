// Attempts on other processes, on what was inherited, and on the limits. It is to be the only process of the run.
#include "probe.h"
#include <sys/resource.h>
#include <termios.h>

static const char *of(const char *process, const char *name) {
  static char path[256];
  snprintf(path, sizeof path, "/proc/%s/%s", process, name);
  return path;
}

static int link_of(const char *process, const char *name) {
  char target[64];
  return (int)readlink(of(process, name), target, sizeof target);
}

// The kernel says that it worked also where it let none of the signals through.
static int signal_everybody(pid_t victim) { return kill(-1, 0) ? -1 : kill(victim, 0); }

static void others(void) {
  char first[32];
  // Without a process namespace of the run's own, this is the process that sees to its end.
  pid_t above = getppid(), victim = (pid_t)atoi(told[3]);
  snprintf(first, sizeof first, "%d", above);
  TRY("39 read the environment of a process outside", can_read(of(told[3], "environ")));
  TRY("41 signal everybody", signal_everybody(victim));
  TRY("42 read the first process's environment", can_read(of(first, "environ")));
  TRY("+ read the first process's memory", can_read(of(first, "mem")));
  TRY("+ read the first process's map", can_read(of(first, "maps")));
  TRY("+ follow the first process's root", link_of(first, "root"));
  TRY("+ follow the first process's folder", link_of(first, "cwd"));
  TRY("+ follow the first process's program", link_of(first, "exe"));
  TRY("+ follow the first process's control socket", link_of(first, "fd/100"));
  TRY("+ kill the first process", kill(above, SIGCONT));
  TRY("+ kill the first process by a descriptor",
      syscall(SYS_pidfd_send_signal, syscall(SYS_pidfd_open, above, 0), SIGCONT, NULL, 0));
  TRY("+ signal a process outside", kill(victim, 0));
  struct rlimit limit;
  prlimit(above, RLIMIT_NOFILE, NULL, &limit);
  TRY("+ change the first process's limits", prlimit(above, RLIMIT_NOFILE, &limit, NULL));
}

static int any_descriptor(void) {
  for (int number = 3; number < 4096; number++)
    if (fcntl(number, F_GETFD) >= 0) return number;
  errno = EBADF;
  return -1;
}

static int any_terminal(void) {
  struct termios settings;
  for (int number = 0; number < 3; number++)
    if (tcgetattr(number, &settings) == 0 || errno != ENOTTY) return 0;
  return -1;
}

static void inherited(void) {
  TRY("43 use the inherited descriptor 77", fcntl(77, F_GETFD));
  TRY("+ use any inherited descriptor", any_descriptor());
  say("44 find a secret in the environment", getenv("SECRET_TOKEN") ? "there" : "absent");
  say("+ find a variable that loads code", getenv("LD_PRELOAD") || getenv("BASH_ENV") ? "there" : "absent");
  TRY("+ find a terminal among the standard descriptors", any_terminal());
  TRY("+ open the controlling terminal", shut(open("/dev/tty", O_RDWR)));
}

static int raise_limit(int which) { return setrlimit(which, &(struct rlimit){RLIM_INFINITY, RLIM_INFINITY}); }

static int grow(const char *path, int (*how)(int)) {
  int file = open(path, O_CREAT | O_RDWR, 0600);
  if (file < 0) return -1;
  int got = how(file);
  int error = errno;
  close(file);
  unlink(path);
  errno = error;
  return got;
}

static int by_truncate(int file) { return ftruncate(file, 3LL << 30); }
static int by_write(int file) { return (int)pwrite(file, "x", 1, 3LL << 30); }
static int by_allocate(int file) { return fallocate(file, 0, 3LL << 30, 1); }

static void limits(void) {
  TRY("47 make a file of 3 GB with truncate", grow("out/large", by_truncate));
  TRY("47 make a file of 3 GB with write", grow("out/large", by_write));
  TRY("47 make a file of 3 GB with fallocate", grow("out/large", by_allocate));
  TRY("+ allow larger files", raise_limit(RLIMIT_FSIZE));
  TRY("+ allow core dumps", raise_limit(RLIMIT_CORE));
}

int main(int count, char **words) {
  if (count < 4) return 2;
  told = words;
  inherited();
  others();
  limits();
  return 0;
}
