// Reads a hidden file again and again, for the moment in which it may not be hidden.
#include "probe.h"

int main(int count, char **words) {
  if (count < 1) return 2;
  told = words;
  char text[256];
  shut(creat("out/up", 0600));
  for (;;) {
    int file = open(".env", O_RDONLY);
    if (file < 0) continue;
    ssize_t length = read(file, text, sizeof text);
    close(file);
    if (length > 0) write(1, text, (size_t)length);
  }
}
