// References in regions: their targets are mapped.
#include "../../check.h"
static void add(int &x, const int &y, int (&v)[3]) {
#pragma omp target map(tofrom : x, v) map(to : y)
  {
    x += y;
    v[2] = x;
  }
}
int main() {
  int x = 1, y = 5, v[3] = {0, 0, 0};
  add(x, y, v);
  CHECK(x == 6 && v[2] == 6);
  return DONE();
}
