// Forks until it may not, and says after how many; then lets all of them go.
#include "probe.h"

int main(int count, char **words) {
  if (count < 1) return 2;
  told = words;
  int gate[2], made = 0;
  if (pipe(gate)) return 2;
  for (; made < 6000; made++) {
    pid_t child = fork();
    if (child < 0) break;
    if (child == 0) {
      char byte;
      close(gate[1]);
      _exit((int)read(gate[0], &byte, 1));
    }
  }
  int error = made < 6000 ? errno : 0;
  close(gate[1]);
  while (wait(NULL) > 0) {}
  say("46 fork 6,000 times", error ? strerrorname_np(error) : "works");
  fprintf(stderr, "%d made\n", made);
  return 0;
}
