// OpenMP 5.2, section 7.8: variables and functions on the device, which keeps its own copy.
#include "../../check.h"
#pragma omp begin declare target
int counter = 5;
double table[4] = {1, 2, 3, 4};
static int hidden = 9;
static int square(int x) { return x * x; }
int next(void) { return ++counter; }
#pragma omp end declare target
int main(void) {
  int r = 0, h = 0;
#pragma omp target map(from : r, h)
  {
    next();
    r = next() + square(3) + (int)table[3];
    h = hidden;
  }
  CHECK(r == 7 + 9 + 4 && counter == 5 && h == 9);
#pragma omp target update from(counter)
  CHECK(counter == 7);
  counter = 50, table[0] = 0.5;
#pragma omp target update to(counter, table)
#pragma omp target map(from : r)
  r = next() + (table[0] == 0.5);
  CHECK(r == 52);
  CHECK(omp_target_is_present(&counter, omp_get_default_device()));
  return DONE();
}
