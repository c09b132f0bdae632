// A child process made by fork before any region uses OpenMP on its own.
// stdout: ok
// levels: O0 O2
#include "../../check.h"
#include <sys/wait.h>
#include <unistd.h>
int main(void) {
  int status = 0, n = 0;
  pid_t child = fork();
  if (child == 0) {
#pragma omp parallel num_threads(3) reduction(+ : n)
    n++;
    _exit(n == 3 ? 17 : 1);
  }
  waitpid(child, &status, 0);
  CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 17);
#pragma omp parallel num_threads(2) reduction(+ : n)
  n++;
  CHECK(n == 2);
  return DONE();
}
