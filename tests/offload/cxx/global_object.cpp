// OpenMP 5.2, section 7.8: objects with static storage on the device, made by constexpr constructors and others.
#include "../../check.h"
#pragma omp begin declare target
struct Table {
  int v[4];
  constexpr Table(int a) : v{a, a + 1, a + 2, a + 3} {}
  int at(int i) const { return v[i]; }
};
constexpr Table fixed(5);
Table changing(10);
#pragma omp end declare target
int main() {
  int r = 0, s = 0;
#pragma omp target map(from : r, s)
  {
    r = fixed.at(3) + changing.at(0);
    changing.v[0] = 77;
    s = changing.at(0);
  }
  CHECK(r == 18 && s == 77 && changing.at(0) == 10);
  return DONE();
}
