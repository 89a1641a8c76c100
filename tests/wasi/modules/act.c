/* SPDX-License-Identifier: Apache-2.0
 * Tries what its words say, two by two, and tells how each went. The same source is a native program for the control run and a
 * module for WASI. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

extern char **environ;

static int read_file(const char *path) {
  char byte;
  int fd = open(path, O_RDONLY);
  if (fd < 0) return -1;
  return read(fd, &byte, 1) < 0 ? -1 : close(fd);
}

static int write_file(const char *path) {
  int fd = open(path, O_WRONLY | O_CREAT | O_APPEND, 0600);
  if (fd < 0) return -1;
  return write(fd, "x", 1) != 1 ? -1 : close(fd);
}

static int list(const char *path) {
  DIR *directory = opendir(path);
  if (directory == NULL) return -1;
  errno = 0;
  if (readdir(directory) == NULL && errno != 0) return -1;
  return closedir(directory);
}

/* Makes a link to the path and reads through it. */
static int through_link(const char *path) {
  unlink("made-link");
  if (symlink(path, "made-link") != 0) return -1;
  return read_file("made-link");
}

#ifdef __wasi__
#include <wasi/api.h>
/* Past the C library, which has ideas of its own about names: every directory that was given, with the name as it is. */
static int raw_read(const char *path) {
  __wasi_fd_t fd, directory;
  __wasi_errno_t last = __WASI_ERRNO_BADF;
  for (directory = 3; directory < 16; ++directory) {
    __wasi_errno_t error = __wasi_path_open(directory, __WASI_LOOKUPFLAGS_SYMLINK_FOLLOW, path, 0, __WASI_RIGHTS_FD_READ, 0, 0, &fd);
    if (error == __WASI_ERRNO_SUCCESS) return 0;
    if (error != __WASI_ERRNO_BADF) last = error;
  }
  errno = last;
  return -1;
}
#else
static int raw_read(const char *path) { return read_file(path); }
#endif

static int act(const char *what, const char *path) {
  if (strcmp(what, "read") == 0) return read_file(path);
  if (strcmp(what, "raw-read") == 0) return raw_read(path);
  if (strcmp(what, "write") == 0) return write_file(path);
  if (strcmp(what, "list") == 0) return list(path);
  if (strcmp(what, "remove") == 0) return unlink(path);
  if (strcmp(what, "make") == 0) return mkdir(path, 0700);
  if (strcmp(what, "through-link") == 0) return through_link(path);
  if (strcmp(what, "variable") == 0) return getenv(path) == NULL ? (errno = ENOENT, -1) : 0;
  errno = EINVAL;
  return -1;
}

int main(int argc, char **argv) {
  int i;
  for (i = 1; i + 1 < argc; i += 2) {
    errno = 0;
    if (act(argv[i], argv[i + 1]) == 0) printf("%s %s: ok\n", argv[i], argv[i + 1]);
    else printf("%s %s: %s\n", argv[i], argv[i + 1], strerror(errno));
  }
  return 42;
}
