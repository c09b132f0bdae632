// assert in a region that holds.
#include <assert.h>
#include "../../check.h"
int main(void) {
  int x = 4;
#pragma omp target map(tofrom : x)
  {
    assert(x == 4);
    x++;
  }
  CHECK(x == 5);
  return DONE();
}
