// A kernel that uses a symbol defined in no image runs on the host, with the reason; the others run on the device.
// flags: -fno-inline
// options: --offload-report
// stderr-has: one_lacks.c:
// stderr-has: the function `host_only`, which the device code does not define at
// stderr-has: inline assembly at
// not-on: processors
#include "../../check.h"
#pragma omp begin declare target
extern int elsewhere(int x) __asm__("host_only");
int through(int x) { return elsewhere(x) + 1; }
static int (*const table[2])(int) = {through, through};
#pragma omp end declare target
int main(void) {
  int first = 0, second = 0, third = 0, fourth = 0, fifth = 0;
#pragma omp target map(from : first)
  first = !omp_is_initial_device();
  CHECK(first);
#pragma omp target map(from : second)
  {
    second = omp_is_initial_device() ? 7 : through(1);
  }
  CHECK(second == 7);
#pragma omp target map(from : third)
  third = omp_is_initial_device() ? 8 : table[1](1);
  CHECK(third == 8);
#pragma omp target map(from : fourth)
  {
    fourth = omp_is_initial_device();
    __asm__ volatile("" ::: "memory");
  }
  CHECK(fourth);
#pragma omp target parallel for reduction(+ : fifth)
  for (int i = 0; i < 100; i++) fifth += !omp_is_initial_device();
  CHECK(fifth == 100);
  return DONE();
}
int host_only(int x) { return x; }
