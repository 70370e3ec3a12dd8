/*
 * Writes down what a program asks of its disk, in order: what it writes, what it has synced, and what it says on its standard output.
 * Loaded with LD_PRELOAD; power-cut.ts reads the trace and works out what a disk that loses its cache may hold at any moment.
 * DISK_TRACE names the trace; of files only those whose paths begin with DISK_FILES are followed.
 */
#define _GNU_SOURCE
#define PATH_MAX_BYTES 4096
#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum operation { WRITTEN = 1, CUT = 2, SYNCED = 3, REMOVED = 4, SAID = 5 };
struct record { uint32_t operation, path_bytes; uint64_t at, bytes; };

static pthread_mutex_t one_by_one = PTHREAD_MUTEX_INITIALIZER;
static int trace = -1;
static const char *followed;

__attribute__((constructor)) static void begin(void) {
  const char *path = getenv("DISK_TRACE");
  followed = getenv("DISK_FILES");
  if (path && followed) trace = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
}

#define REAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

/* Straight into the file: it outlives a kill, and a trace is read only after its program has ended. */
static void put(const void *bytes, size_t count) {
  static ssize_t (*real)(int, const void *, size_t);
  if (!real) real = REAL(write);
  for (const char *from = bytes; count > 0;) {
    ssize_t done = real(trace, from, count);
    if (done <= 0) abort();
    from += done;
    count -= (size_t)done;
  }
}

static void note(uint32_t operation, const char *path, uint64_t at, const void *data, uint64_t bytes) {
  struct record record = {operation, (uint32_t)strlen(path), at, bytes};
  pthread_mutex_lock(&one_by_one);
  put(&record, sizeof record);
  put(path, record.path_bytes);
  if (data) put(data, bytes);
  pthread_mutex_unlock(&one_by_one);
}

static int follows(const char *path) { return trace >= 0 && strncmp(path, followed, strlen(followed)) == 0; }

/* Whether the file behind a descriptor is followed; its path is put into `path`. */
static int file_of(int descriptor, char path[PATH_MAX_BYTES]) {
  char link[64];
  if (trace < 0) return 0;
  snprintf(link, sizeof link, "/proc/self/fd/%d", descriptor);
  ssize_t length = readlink(link, path, PATH_MAX_BYTES - 1);
  if (length < 0) return 0;
  path[length] = 0;
  return follows(path);
}

/* What is written is noted before it is, what is synced when it is: no crash makes the trace promise more than the disk was asked for. */
ssize_t pwrite64(int descriptor, const void *data, size_t bytes, off64_t at) {
  char path[PATH_MAX_BYTES];
  if (file_of(descriptor, path)) note(WRITTEN, path, (uint64_t)at, data, bytes);
  return REAL(pwrite64)(descriptor, data, bytes, at);
}
ssize_t pwrite(int descriptor, const void *data, size_t bytes, off_t at) { return pwrite64(descriptor, data, bytes, at); }

ssize_t write(int descriptor, const void *data, size_t bytes) {
  if (descriptor == STDOUT_FILENO && trace >= 0) note(SAID, "", 0, data, bytes);
  return REAL(write)(descriptor, data, bytes);
}

int ftruncate64(int descriptor, off64_t length) {
  char path[PATH_MAX_BYTES];
  if (file_of(descriptor, path)) note(CUT, path, (uint64_t)length, NULL, 0);
  return REAL(ftruncate64)(descriptor, length);
}
int ftruncate(int descriptor, off_t length) { return ftruncate64(descriptor, length); }

int unlink(const char *path) {
  if (follows(path)) note(REMOVED, path, 0, NULL, 0);
  return REAL(unlink)(path);
}

static int synced(int descriptor, int result) {
  char path[PATH_MAX_BYTES];
  if (result == 0 && file_of(descriptor, path)) note(SYNCED, path, 0, NULL, 0);
  return result;
}
int fsync(int descriptor) { return synced(descriptor, REAL(fsync)(descriptor)); }
int fdatasync(int descriptor) { return synced(descriptor, REAL(fdatasync)(descriptor)); }
