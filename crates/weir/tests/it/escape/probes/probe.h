// What every probe uses: an attempt is made, and a line says its name and how it came out.
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

// What the test tells: the home folder, the project, a process outside, and so on.
static char **told;
#define HOME told[1]
#define PROJECT told[2]

static void say(const char *name, const char *outcome) { printf("%s\t%s\n", name, outcome); }

static void report(const char *name, long result) {
  int error = errno;
  const char *known = strerrorname_np(error);
  say(name, result != -1 ? "works" : known ? known : "?");
  fflush(stdout);
}

#define TRY(name, attempt) (errno = 0, report(name, (long)(attempt)))
#define CALL(name, ...) TRY(name, syscall(__VA_ARGS__))

// An attempt that may end the process is made by another one.
#define TRY_APART(name, attempt)                                   \
  do {                                                             \
    fflush(stdout);                                                \
    pid_t child = fork();                                          \
    if (child == 0) {                                              \
      TRY(name, attempt);                                          \
      _exit(0);                                                    \
    }                                                              \
    int status = 0;                                                \
    char words[32];                                                \
    waitpid(child, &status, 0);                                    \
    if (WIFSIGNALED(status)) {                                     \
      snprintf(words, sizeof words, "signal %d", WTERMSIG(status)); \
      say(name, words);                                            \
    }                                                              \
  } while (0)

static const char *in(const char *folder, const char *name) {
  static char paths[8][4096];
  static unsigned next;
  char *path = paths[next++ % 8];
  snprintf(path, sizeof paths[0], "%s/%s", folder, name);
  return path;
}

// A descriptor that was wanted only to see whether it can be had.
static int shut(int descriptor) {
  if (descriptor >= 0) close(descriptor);
  return descriptor;
}

static int can_read(const char *path) {
  char byte;
  int file = open(path, O_RDONLY | O_NONBLOCK);
  if (file < 0) return -1;
  int got = (int)read(file, &byte, 1);
  int error = errno;
  close(file);
  errno = error;
  return got < 0 && error != EISDIR ? -1 : 0;
}

// Moves something, and back again if that worked: an attempt must not change what the next one finds.
static int moved(const char *from, const char *to) {
  if (rename(from, to)) return -1;
  return rename(to, from), 0;
}

static int exchanged(const char *one, const char *other) {
  if (renameat2(AT_FDCWD, one, AT_FDCWD, other, RENAME_EXCHANGE)) return -1;
  return renameat2(AT_FDCWD, one, AT_FDCWD, other, RENAME_EXCHANGE), 0;
}

static int linked(const char *from, const char *to) {
  if (link(from, to)) return -1;
  return unlink(to), 0;
}

static int can_write(const char *path) { return shut(open(path, O_WRONLY | O_APPEND)); }

static int can_create(const char *path) { return shut(open(path, O_WRONLY | O_CREAT, 0600)); }
