// Uses memory in ways that a count of private pages does not see.
#include "probe.h"
#include <sys/ipc.h>
#include <sys/resource.h>
#include <sys/shm.h>

static void fill(size_t bytes, int flags) {
  char *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, flags | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) _exit(3);
  memset(memory, 1, bytes);
}

// Segments that no process has attached any more.
static void fill_segments(size_t bytes) {
  const size_t each = 16 << 20;
  for (size_t made = 0; made < bytes; made += each) {
    int segment = shmget(IPC_PRIVATE, each, IPC_CREAT | 0600);
    char *memory = segment < 0 ? (char *)-1 : shmat(segment, NULL, 0);
    if (memory == (char *)-1) _exit(3);
    memset(memory, 1, each);
    shmdt(memory);
  }
}

int main(int count, char **words) {
  if (count < 2) return 2;
  told = words;
  const size_t bytes = 400 << 20;
  if (!strcmp(told[1], "private")) fill(bytes, MAP_PRIVATE);
  if (!strcmp(told[1], "shared")) fill(bytes, MAP_SHARED);
  if (!strcmp(told[1], "segments")) fill_segments(bytes);
  if (!strcmp(told[1], "limits")) {
    prlimit(1, RLIMIT_NOFILE, &(struct rlimit){0, 0}, NULL);
    fill(bytes, MAP_PRIVATE);
  }
  // Longer than the watch needs to look.
  sleep(3);
  return 0;
}
