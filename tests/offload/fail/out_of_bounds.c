// A region reads behind the mapped data.
// signal: 6
// stderr-has: 396 bytes into a block of 396 bytes on the device
// stderr-has: out_of_bounds.c:12
// stderr-has: a map clause that maps too little
#include <stdlib.h>
int main(void) {
  int n = 100, *p = calloc(n, sizeof *p), sum = 0;
#pragma omp target map(to : p[0 : n - 1]) map(tofrom : sum)
  for (int i = 0; i < n; i++)
    // One more than there are elements.
    sum += p[i];
  return sum;
}
