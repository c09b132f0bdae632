// setns of a mount namespace and unshare with several kinds at a time, each of which needs a single-threaded process.
// levels: O0 O2
// stdout: 1 1 1
#define _GNU_SOURCE
#include "../../check.h"
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <unistd.h>

int main(void) {
  int own = open("/proc/self/ns/mnt", O_RDONLY | O_CLOEXEC);
  int joined = own < 0 || setns(own, CLONE_NEWNS) == 0 || errno != EINVAL;
  int both = unshare(CLONE_NEWUSER | CLONE_NEWNS) == 0 || errno != EINVAL;
  int again = unshare(CLONE_VM) == 0 || errno != EINVAL;
  printf("%d %d %d\n", joined, both, again);
}
