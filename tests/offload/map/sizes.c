// OpenMP 5.2, section 5.8.3: data of every size and alignment between one byte and megabytes.
#include "../../check.h"
int main(void) {
  for (int n = 1; n < 3000000; n = 3 * n + 1) {
    unsigned char *p = malloc(n + 8);
    for (int i = 0; i < n + 8; i++) p[i] = (unsigned char)(i * 7);
#pragma omp target map(tofrom : p[3 : n])
    {
      p[3]++;
      p[n + 2]++;
    }
    int twice = n == 1;
    CHECK(p[2] == 14 && p[3] == 22 + twice && p[n + 2] == (unsigned char)((n + 2) * 7 + 1 + twice));
    CHECK(p[n + 3] == (unsigned char)((n + 3) * 7));
    free(p);
  }
  return DONE();
}
