// A function of the host is called through a pointer in a region.
// signal: 6
// stderr-has: a call of
// stderr-has: no function of the device
// stderr-has: host_function.c:13
#include <stdlib.h>
int on_host(int x) { return x + 1; }
int main(int argc, char **argv) {
  int (*f)(int) = argc > 5 ? abs : on_host, r = 0;
  (void)argv;
#pragma omp target map(from : r) firstprivate(f)
  {
    r = f(3);
  }
  return r;
}
