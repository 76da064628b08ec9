// Attempts to type into the terminal that the program was started from.
#include "probe.h"

static int type(int descriptor) { return descriptor < 0 ? -1 : ioctl(descriptor, TIOCSTI, "x"); }

int main(int count, char **words) {
  if (count < 4) return 2;
  told = words;
  TRY("45 type into the terminal by standard input", type(0));
  TRY("45 type into the terminal by standard output", type(1));
  TRY("45 type into the terminal by standard error", type(2));
  TRY("+ open the terminal by its own name", shut(open("/dev/tty", O_RDWR | O_NOCTTY)));
  TRY("+ open the terminal by its path", shut(open(told[3], O_RDWR | O_NOCTTY)));
  TRY("+ read the terminal by its own name", shut(open("/dev/tty", O_RDONLY | O_NOCTTY)));
  TRY("+ read the terminal by its path", shut(open(told[3], O_RDONLY | O_NOCTTY)));
  TRY("+ take the terminal of standard output", ioctl(1, TIOCSCTTY, 0));
  return 0;
}
