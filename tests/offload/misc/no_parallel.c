// Sequential regions: recursion and loops that end by a condition.
#include "../../check.h"
#pragma omp begin declare target
static int fib(int n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }
#pragma omp end declare target
int main(void) {
  int f = 0, steps = 0;
  long x = 27;
#pragma omp target map(from : f) map(tofrom : steps, x)
  {
    f = fib(15);
    while (x != 1) x = x % 2 ? 3 * x + 1 : x / 2, steps++;
  }
  CHECK(f == 610 && steps == 111 && x == 1);
  return DONE();
}
