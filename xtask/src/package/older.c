// Functions that glibc 2.28 lacks and that LLVM, Rust's library and ompvm refer to, because they were
// compiled with newer headers.
//
// `cargo xtask package` links this file into what it packages. Everything here is hidden, so a guest
// and the libraries of the system never see it. It leaves out functions that glibc 2.28 has under an
// older version: the stubs of `glibc.rs` select these.

#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <malloc.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#define HIDDEN __attribute__((visibility("hidden")))

// glibc before 2.33 has these with the version of the structure as the first argument.
int __xstat(int version, const char *path, struct stat *buffer);
int __fxstat(int version, int file, struct stat *buffer);
int __lxstat(int version, const char *path, struct stat *buffer);
int __fxstatat(int version, int folder, const char *path, struct stat *buffer, int flags);
int __xmknod(int version, const char *path, mode_t mode, dev_t *device);
enum { STAT_VERSION = 1, MKNOD_VERSION = 0 };

HIDDEN int stat(const char *path, struct stat *buffer) { return __xstat(STAT_VERSION, path, buffer); }
HIDDEN int fstat(int file, struct stat *buffer) { return __fxstat(STAT_VERSION, file, buffer); }
HIDDEN int lstat(const char *path, struct stat *buffer) { return __lxstat(STAT_VERSION, path, buffer); }
HIDDEN int fstatat(int folder, const char *path, struct stat *buffer, int flags) {
  return __fxstatat(STAT_VERSION, folder, path, buffer, flags);
}

// On x86-64 the two structures are one.
_Static_assert(sizeof(struct stat) == sizeof(struct stat64), "the structures differ");
HIDDEN int stat64(const char *path, struct stat64 *buffer) { return stat(path, (struct stat *)buffer); }
HIDDEN int fstat64(int file, struct stat64 *buffer) { return fstat(file, (struct stat *)buffer); }
HIDDEN int lstat64(const char *path, struct stat64 *buffer) { return lstat(path, (struct stat *)buffer); }
HIDDEN int fstatat64(int folder, const char *path, struct stat64 *buffer, int flags) {
  return fstatat(folder, path, (struct stat *)buffer, flags);
}

HIDDEN int mknod(const char *path, mode_t mode, dev_t device) {
  return __xmknod(MKNOD_VERSION, path, mode, &device);
}

HIDDEN pid_t gettid(void) { return (pid_t)syscall(SYS_gettid); }

HIDDEN int execveat(int folder, const char *path, char *const arguments[], char *const environment[], int flags) {
  return (int)syscall(SYS_execveat, folder, path, arguments, environment, flags);
}

// The older function counts in 32 bits.
HIDDEN struct mallinfo2 mallinfo2(void) {
  struct mallinfo counts = mallinfo();
  struct mallinfo2 wide = {(unsigned)counts.arena,    (unsigned)counts.ordblks,  (unsigned)counts.smblks,
                           (unsigned)counts.hblks,    (unsigned)counts.hblkhd,   (unsigned)counts.usmblks,
                           (unsigned)counts.fsmblks,  (unsigned)counts.uordblks, (unsigned)counts.fordblks,
                           (unsigned)counts.keepcost};
  return wide;
}

HIDDEN uint32_t arc4random(void) {
  uint32_t number = 0;
  while (syscall(SYS_getrandom, &number, sizeof number, 0) != (long)sizeof number)
    if (errno != EINTR) abort();
  return number;
}

// libstdc++ leaves out atomic operations while it is true. ompvm has threads from its start.
HIDDEN char __libc_single_threaded = 0;

// Programs of glibc before 2.34 run their constructors themselves, and newer ones leave that to
// `__libc_start_main`. The start file of this machine does the latter, so this is called in its place.
typedef int Main(int, char **, char **);
typedef void Start(int, char **, char **);
int __real___libc_start_main(Main *, int, char **, Start *, void (*)(void), void (*)(void), void *);
extern HIDDEN void _init(void) __attribute__((weak));
extern HIDDEN Start *__init_array_start[], *__init_array_end[];

static void constructors(int count, char **arguments, char **environment) {
  if (_init) _init();
  for (Start **next = __init_array_start; next != __init_array_end; next++) (*next)(count, arguments, environment);
}

// The loader runs destructors in either case.
static void no_destructors(void) {}

HIDDEN int __wrap___libc_start_main(Main *run, int count, char **arguments, Start *init, void (*fini)(void),
                                    void (*loader_fini)(void), void *stack_end) {
  (void)init, (void)fini;
  return __real___libc_start_main(run, count, arguments, constructors, no_destructors, loader_fini, stack_end);
}
