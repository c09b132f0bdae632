// OpenMP 5.2, section 7.8: a pointer on the device to another of its variables.
#include "../../check.h"
#pragma omp begin declare target
int value = 11, *to_value = &value;
int f(int x) { return x + 1; }
int g(int x) { return x * 10; }
int (*functions[2])(int) = {f, g};
#pragma omp end declare target
int main(void) {
  int r = 0, s = 0;
#pragma omp target map(from : r, s)
  {
    *to_value += 1;
    r = value;
    s = functions[0](1) + functions[1](2);
  }
  CHECK(r == 12 && value == 11 && s == 22);
  return DONE();
}
