// A member function with a region that uses members by this.
#include "../../check.h"
struct Body {
  double x[3], v[3];
  void move(double dt) {
#pragma omp target map(tofrom : this[0 : 1])
    for (int k = 0; k < 3; k++) x[k] += dt * v[k];
  }
  double norm() const {
    double s = 0;
#pragma omp target map(to : x) map(tofrom : s)
    for (int k = 0; k < 3; k++) s += x[k] * x[k];
    return s;
  }
};
int main() {
  Body b = {{0, 0, 0}, {1, 2, 3}};
  b.move(2);
  CHECK(b.x[2] == 6 && b.norm() == 4 + 16 + 36);
  return DONE();
}
