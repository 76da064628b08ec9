// Uses memory in ways that a count of private pages does not see.
#include "probe.h"
#include <sys/resource.h>

static void fill(size_t bytes, int flags) {
  char *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, flags | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) _exit(3);
  memset(memory, 1, bytes);
}

int main(int count, char **words) {
  if (count < 2) return 2;
  told = words;
  const size_t bytes = 400 << 20;
  if (!strcmp(told[1], "private")) fill(bytes, MAP_PRIVATE);
  if (!strcmp(told[1], "shared")) fill(bytes, MAP_SHARED);
  if (!strcmp(told[1], "limits")) {
    prlimit(1, RLIMIT_NOFILE, &(struct rlimit){0, 0}, NULL);
    fill(bytes, MAP_PRIVATE);
  }
  // Longer than the watch needs to look.
  sleep(3);
  return 0;
}
