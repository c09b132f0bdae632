// Functions of the C library on memory in a region.
#include "../../check.h"
int main(void) {
  char a[32] = "hello", b[32] = "";
  int n = 0, order = 0;
#pragma omp target map(tofrom : a, b) map(from : n, order)
  {
    memcpy(b, a, 6);
    memset(a, 'z', 3);
    n = (int)strlen(b);
    order = strcmp(a, b) > 0;
  }
  CHECK(!strcmp(a, "zzzlo") && !strcmp(b, "hello") && n == 5 && order);
  return DONE();
}
