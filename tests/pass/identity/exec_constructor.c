// A constructor that re-executes the program in another environment, as programs do that need a variable set before
// their libraries read it.
// levels: O0 O2
// args: first second
// stdout: 3 threads, second of 3 arguments
#include "../../check.h"
#include <unistd.h>

__attribute__((constructor)) static void restart(int argc, char **argv) {
  (void)argc;
  if (getenv("RESTARTED"))
    return;
  setenv("RESTARTED", "1", 1);
  setenv("OMP_NUM_THREADS", "3", 1);
  execv("/proc/self/exe", argv);
  _exit(9);
}

int main(int argc, char **argv) {
  int n = 0;
#pragma omp parallel reduction(+ : n)
  n++;
  printf("%d threads, %s of %d arguments\n", n, argv[argc - 1], argc);
}
