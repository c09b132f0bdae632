// Static functions and variables of the same name in several scopes, and regions in inline and static functions, stay distinct.
#include "../../check.h"
#pragma omp begin declare target
static int one(void) { static int n = 10; return n++; }
static int two(void) { static int n = 20; return n++; }
#pragma omp end declare target
static inline int region_one(void) {
  int r = 0;
#pragma omp target map(from : r)
  r = one();
  return r;
}
static int region_two(int k) {
  int r = 0;
  if (k > 0) {
#pragma omp target map(from : r)
    r = two() + k;
  } else {
#pragma omp target map(from : r)
    r = -two();
  }
  return r;
}
int main(void) {
  CHECK(region_one() == 10 && region_one() == 11);
  CHECK(region_two(1) == 21 && region_two(-1) == -21 && region_two(2) == 24);
  CHECK(one() == 10); // the host has its own
  return DONE();
}
