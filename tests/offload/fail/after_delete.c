// A device pointer that is used after its mapping was deleted.
// signal: 6
// stderr-has: that was freed on the device
// stderr-has: after_delete.c:13
#include <omp.h>
int *kept;
#pragma omp declare target(kept)
int main(void) {
  int v[10] = {0}, x = 0;
#pragma omp target map(tofrom : v)
  kept = &v[3];
#pragma omp target map(from : x)
  x = *kept;
  return x;
}
