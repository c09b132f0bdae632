// OpenMP 5.2, section 7.8: device objects with non-trivial constructors; objects within regions are destroyed there.
#include "../../check.h"
struct Count {
  int n;
  Count(int by) : n(by * 2) {}
  ~Count() { n = -1; }
};
#pragma omp begin declare target
int alive = 0;
struct Guard {
  Guard() { alive++; }
  ~Guard() { alive--; }
};
Count global(21);
#pragma omp end declare target
int main() {
  int seen = 0, inside = 0, after = -1;
#pragma omp target map(from : seen, inside, after)
  {
    seen = global.n;
    {
      Guard one, two;
      Guard *three = new Guard;
      inside = alive;
      delete three;
    }
    after = alive;
    global.n++;
  }
  CHECK(seen == 42 && inside == 3 && after == 0);
#pragma omp target map(from : seen)
  seen = global.n;
  CHECK(seen == 43 && global.n == 42);
  return DONE();
}
