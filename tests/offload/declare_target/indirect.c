// OpenMP 5.2, section 7.8.3: functions of the device called through pointers of the host.
// flags: -fopenmp-version=51
#include "../../check.h"
#pragma omp begin declare target indirect
int plus(int x) { return x + 1; }
int times(int x) { return x * 10; }
#pragma omp end declare target
int main(void) {
  int r = 0;
  for (int k = 0; k < 2; k++) {
    int (*f)(int) = k ? times : plus;
#pragma omp target map(tofrom : r)
    r += f(k + 3);
  }
  CHECK(r == 4 + 40);
  return DONE();
}
