// OpenMP 5.2, section 13.8: functions of the device that call themselves, and through pointers, from many threads.
#include "../../check.h"
#pragma omp begin declare target
static int fib(int n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }
static int twice(int (*f)(int), int n) { return f(n) + f(n); }
static int odd(int n);
static int even(int n) { return n == 0 ? 1 : odd(n - 1); }
static int odd(int n) { return n == 0 ? 0 : even(n - 1); }
#pragma omp end declare target
int main(void) {
  int v[64], e[64];
#pragma omp target teams distribute parallel for map(from : v, e)
  for (int i = 0; i < 64; i++) v[i] = twice(fib, i % 12), e[i] = even(i);
  int want[12] = {0, 1, 1, 2, 3, 5, 8, 13, 21, 34, 55, 89};
  for (int i = 0; i < 64; i++) CHECK(v[i] == 2 * want[i % 12] && e[i] == (i % 2 == 0));
  return DONE();
}
