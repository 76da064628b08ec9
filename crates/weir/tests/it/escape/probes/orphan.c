// Leaves a process behind that wants to stay: of a session of its own, deaf to signals, nobody's child.
#include "probe.h"

static void deaf(void) {
  setsid();
  prctl(PR_SET_PDEATHSIG, 0);
  for (int number = 1; number < 65; number++) signal(number, SIG_IGN);
}

int main(int count, char **words) {
  if (count < 2) return 2;
  told = words;
  pid_t child = fork();
  if (child == 0) {
    deaf();
    if (fork() != 0) _exit(0);
    deaf();
    // The test waits for this file.
    shut(creat("out/up", 0600));
    for (;;) pause();
  }
  waitpid(child, NULL, 0);
  while (access("out/up", F_OK)) usleep(1000);
  if (!strcmp(told[1], "stay")) {
    deaf();
    for (;;) pause();
  }
  return 0;
}
