// OpenMP 5.2, section 7.8: an object of the device whose constructor runs there before the first region.
#include "../../check.h"
#pragma omp begin declare target
extern int start;
int start = 6;
static int twice(int x) { return 2 * x; }
int computed = twice(start);
struct Counter {
  int n;
  Counter() : n(twice(start) + 1) {}
};
Counter counter;
#pragma omp end declare target
int main() {
  int a = 0, b = 0;
#pragma omp target map(from : a, b)
  a = computed, b = counter.n;
  CHECK(a == 12 && b == 13 && counter.n == 13);
  return DONE();
}
