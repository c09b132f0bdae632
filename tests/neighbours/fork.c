// A child runs regions of both, unless the library's runtime supports no regions in a child whose parent had
// some (libgomp); the parent continues with both.
// stdout: ok
#include "../check.h"
#include "neighbour.inc"
#include <sys/wait.h>
#include <unistd.h>

void by_name(int number) {}

static int guest(void) {
  int threads = 0;
#pragma omp parallel num_threads(3) reduction(+ : threads)
  threads++;
  return threads;
}

static int child(int native) {
  fflush(stdout);
  pid_t pid = fork();
  if (pid == 0) {
    int good = guest() == 3 && (!native || native_sum(3, 100) == 5050) && guest() == 3;
    if (native)
      exit(good ? 42 : 1);
    _exit(good ? 42 : 1);
  }
  int status = 0;
  CHECK(waitpid(pid, &status, 0) == pid);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

int main(void) {
  int gomp = strstr(native_runtime(), "libgomp") != 0;
  CHECK(guest() == 3);
  CHECK(child(1) == 42);
  CHECK(native_sum(3, 100) == 5050);
  CHECK(child(!gomp) == 42);
  CHECK(guest() == 3 && native_sum(4, 100) == 5050);
  CHECK(child(!gomp) == 42);
  return DONE();
}
