// Makes files in the private `/tmp` until it may not.
#include "probe.h"

int main(int count, char **words) {
  if (count < 1) return 2;
  told = words;
  char path[64];
  int made = 0;
  for (; made < 1000000; made++) {
    snprintf(path, sizeof path, "/tmp/%d", made);
    if (mknod(path, S_IFREG | 0600, 0)) break;
  }
  int error = made < 1000000 ? errno : 0;
  say("+ make a million files in /tmp", error ? strerrorname_np(error) : "works");
  return 0;
}
