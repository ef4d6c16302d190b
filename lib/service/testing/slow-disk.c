// Preloaded into the service. Delays flushes of files, holds or fails those of the write-ahead log, and records them.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int exists(const char *name) {
  char path[PATH_MAX];
  const char *folder = getenv("SLOW_DISK_FOLDER");
  if (!folder) return 0;
  snprintf(path, sizeof path, "%s/%s", folder, name);
  return access(path, F_OK) == 0;
}

static void record(const char *line) {
  char path[PATH_MAX];
  const char *folder = getenv("SLOW_DISK_FOLDER");
  if (!folder) return;
  snprintf(path, sizeof path, "%s/flushes", folder);
  int file = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
  if (file < 0) return;
  if (write(file, line, strlen(line)) < 0) abort();
  close(file);
}

static int is_log(int fd) {
  char link[64], path[PATH_MAX];
  snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
  ssize_t length = readlink(link, path, sizeof path - 1);
  if (length < 0) return 0;
  path[length] = 0;
  return strstr(path, "/devdeck.db-wal") != NULL;
}

static int flush(int fd, const char *name) {
  int (*original)(int) = (int (*)(int))dlsym(RTLD_NEXT, name);
  const char *delay = getenv("SLOW_DISK_MS");
  if (delay) usleep(atoi(delay) * 1000);
  if (!is_log(fd)) return original(fd);
  record("begin\n");
  while (exists("hold")) usleep(2000);
  if (exists("fail")) {
    errno = EIO;
    return -1;
  }
  int result = original(fd);
  record("end\n");
  return result;
}

int fsync(int fd) { return flush(fd, "fsync"); }
int fdatasync(int fd) { return flush(fd, "fdatasync"); }
