// Attempts to read what is hidden and to change what is not the run's.
#include "probe.h"
#include <dirent.h>
#include <sys/xattr.h>

static int list(const char *path) {
  DIR *folder = opendir(path);
  return folder ? closedir(folder) : -1;
}

static int reopened(const char *path) {
  char again[64];
  int file = open(path, O_PATH);
  if (file < 0) return -1;
  snprintf(again, sizeof again, "/proc/self/fd/%d", file);
  int got = can_read(again);
  int error = errno;
  close(file);
  errno = error;
  return got;
}

static int handle_of(const char *path) {
  struct { struct file_handle head; char bytes[128]; } handle = {.head.handle_bytes = 128};
  int mount;
  return name_to_handle_at(AT_FDCWD, path, &handle.head, &mount, 0);
}

static int moved_then_read(void) {
  int away = rename("conf", "moved") == 0;
  int got = can_read(away ? "moved/secret.txt" : "conf/secret.txt");
  int error = errno;
  if (away) rename("moved", "conf");
  errno = error;
  return got;
}

static void hidden(void) {
  TRY("1 read .env", can_read(".env"));
  TRY("2 read .env by /proc/self/cwd", can_read("/proc/self/cwd/.env"));
  TRY("2 read .env by /proc/self/root", can_read(in(in("/proc/self/root", PROJECT), ".env")));
  unlink("new-link");
  symlink(in(PROJECT, ".env"), "new-link");
  TRY("3 read .env by a new symbolic link", can_read("new-link"));
  TRY("4 make a hard link to .env", linked(".env", "new-name"));
  TRY("5 move the folder of a hidden file, then read it", moved_then_read());
  TRY("6 move .env away", moved(".env", "aside"));
  TRY("7 take a handle of .env", handle_of(".env"));
  TRY("8 read an ssh key by a symbolic link in the project", can_read("key"));
  TRY("+ read an ssh key by its name", can_read(in(HOME, ".ssh/id_ed25519")));
  TRY("+ list the folder of ssh keys", list(in(HOME, ".ssh")));
  TRY("+ read cloud credentials", can_read(in(HOME, ".aws/credentials")));
  TRY("+ read what a rule denies", can_read("secret.txt"));
  TRY("+ read .env by a descriptor of its path", reopened(".env"));
  TRY("+ exchange .env and another file", exchanged(".env", "plain.txt"));
  TRY("+ open .env with openat2", syscall(SYS_openat2, AT_FDCWD, ".env", (uint64_t[3]){O_RDONLY, 0, 0}, 24));
  TRY("+ give the mask of .env another mode", chmod(".env", 0644));
  TRY("+ write into the mask of .env", can_write(".env"));
  TRY("+ list what weir keeps", list(in(HOME, ".local/share/weir")));
}

static void outside(void) {
  TRY("10 write .bashrc", can_write(in(HOME, ".bashrc")));
  TRY("11 write .bashrc by a symbolic link in the project", can_write("rc"));
  TRY("12 change the mode of a file outside", chmod(in(HOME, "outside.txt"), 0600));
  TRY("12 change the times of a file outside", utimensat(AT_FDCWD, in(HOME, "outside.txt"), NULL, 0));
  TRY("38 read a file in the machine's /tmp", can_read(told[3]));
  TRY("+ make a folder outside", mkdir(in(HOME, "new-folder"), 0700));
  TRY("+ make a hard link outside", linked("plain.txt", in(HOME, "new-name")));
  TRY("+ move a file outside", moved("plain.txt", in(HOME, "new-name")));
  TRY("+ name an attribute of a file outside", setxattr(in(HOME, "outside.txt"), "user.weir", "1", 1, 0));
  TRY("+ move the project aside", moved(PROJECT, in(HOME, "aside")));
  TRY("+ write weir's configuration", can_write(in(HOME, ".config/weir/config.toml")));
  TRY("+ make a file beside the run's cache", can_create(in(getenv("XDG_CACHE_HOME"), "../new")));
  TRY("+ make a file in the root folder", can_create("/weir-escape"));
  TRY("+ write /etc/passwd", can_write("/etc/passwd"));
  TRY("+ change the mode of the machine's /dev/null", chmod("/dev/null", 0666));
  TRY("+ change the mode of standard input", fchmod(0, 0666));
  TRY("+ write a setting of the kernel", can_write("/proc/sys/kernel/core_pattern"));
  TRY("+ make a control group", mkdir("/sys/fs/cgroup/weir-escape", 0700));
  TRY("+ make a device", mknod("device", S_IFCHR | 0600, 0x101));
}

static void repository(void) {
  TRY("19 write a git hook", can_create(".git/hooks/pre-commit"));
  TRY("20 write .git/config", can_write(".git/config"));
  TRY("21 move .git aside", moved(".git", "moved-git"));
  TRY("22 make .git/commondir", can_create(".git/commondir"));
  TRY("+ change the mode of .git/config", chmod(".git/config", 0600));
  TRY("+ exchange .git and another folder", exchanged(".git", "conf"));
}

static int unnamed(int mode) {
  char path[64];
  int file = open(".", O_TMPFILE | O_RDWR, mode);
  if (file < 0) return -1;
  snprintf(path, sizeof path, "/proc/self/fd/%d", file);
  int linked = linkat(AT_FDCWD, path, AT_FDCWD, "runs-as-owner", AT_SYMLINK_FOLLOW);
  unlink("runs-as-owner");
  return linked;
}

static void owners(void) {
  int file = open("plain.txt", O_RDONLY);
  TRY("+ make a file run as its owner with chmod", chmod("plain.txt", 04755));
  TRY("+ make a file run as its owner with fchmod", fchmod(file, 04755));
  CALL("+ make a file run as its owner with fchmodat", SYS_fchmodat, AT_FDCWD, "plain.txt", 04755);
  CALL("+ make a file run as its owner with fchmodat2", 452, AT_FDCWD, "plain.txt", 04755, 0);
  TRY("+ make a file run as its owner with open", shut(open("runs-as-owner", O_CREAT | O_WRONLY, 04755)));
  TRY("+ make a file run as its owner with creat", shut(creat("runs-as-owner", 04755)));
  TRY("+ make a file run as its owner with mknod", mknod("runs-as-owner", S_IFREG | 04755, 0));
  TRY("+ make a file run as its owner without a name", unnamed(04755));
  unlink("runs-as-owner");
  TRY("+ make a file run as its group with chmod", chmod("plain.txt", 02755));
  TRY("+ make a file run as its group with fchmod", fchmod(file, 02755));
  CALL("+ make a file run as its group with fchmodat", SYS_fchmodat, AT_FDCWD, "plain.txt", 02755);
  CALL("+ make a file run as its group with fchmodat2", 452, AT_FDCWD, "plain.txt", 02755, 0);
  TRY("+ make a file run as its group with open", shut(open("runs-as-owner", O_CREAT | O_WRONLY, 02755)));
  TRY("+ make a file run as its group with creat", shut(creat("runs-as-owner", 02755)));
  TRY("+ make a file run as its group with mknod", mknod("runs-as-owner", S_IFREG | 02755, 0));
  TRY("+ make a file run as its group without a name", unnamed(02755));
  close(file);
  unlink("runs-as-owner");
  chmod("plain.txt", 0644);
}

static void own(void) {
  TRY("+ write in the project", can_create("out/new"));
  TRY("+ write beside a hidden file", can_create("conf/new"));
  TRY("+ write in /tmp", can_create(in(getenv("TMPDIR"), "new")));
  TRY("+ write in the run's cache", can_create(in(getenv("XDG_CACHE_HOME"), "new")));
  TRY("+ write /dev/null", can_write("/dev/null"));
  TRY("+ read a file outside", can_read(in(HOME, "outside.txt")));
  TRY("+ read a file at home that nobody named", can_read(in(HOME, "unnamed.txt")));
}

// What cannot be undone comes last.
static void removals(void) {
  TRY("13 truncate a file outside", truncate(in(HOME, "outside.txt"), 0));
  TRY("+ remove a file outside", unlink(in(HOME, "outside.txt")));
  TRY("6 move a file over .env", rename("plain.txt", ".env"));
  TRY("6 remove .env", unlink(".env"));
}

int main(int count, char **words) {
  if (count < 4) return 2;
  told = words;
  hidden();
  outside();
  repository();
  owners();
  own();
  removals();
  return 0;
}
