// A process that is never the same: each lives just long enough to make the next. Killing by number comes too late.
#include "probe.h"
#include <time.h>

int main(int count, char **words) {
  if (count < 1) return 2;
  told = words;
  // It ends by itself, so that a sandbox that fails does not leave it to the machine.
  time_t last = time(NULL) + 30;
  for (int number = 1; number < 65; number++) signal(number, SIG_IGN);
  signal(SIGCHLD, SIG_DFL);
  if (fork() != 0)
    for (;;) pause();
  setsid();
  shut(creat("out/up", 0600));
  // Whoever looks for processes may miss it, so it leaves a trace for as long as it lives.
  while (time(NULL) < last) {
    utimensat(AT_FDCWD, "out/up", NULL, 0);
    if (fork() != 0) _exit(0);
  }
  return 0;
}
