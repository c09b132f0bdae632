// OpenMP 5.2, section 5.5: many variables at once, of sizes that make the buffer's members unequal.
// (Of types narrower than int clang 22 shuffles four bytes into room for fewer: more than one of them is not safe.)
#include "../../check.h"
int main(void) {
  int a = 0;
  unsigned b = 0;
  int c = 0;
  long d = 0;
  float e = 0;
  double f = 0;
  int g[3] = {0};
  long h[2] = {0};
#pragma omp target teams distribute parallel for num_teams(7) thread_limit(96) reduction(+ : a, b, c, d, e, f, g, h)
  for (int i = 0; i < 1024; i++) {
    a += i % 64 == 0, b += 1, c += i, d += (long)i << 20, e += 0.5f, f += 0.25;
    g[i % 3] += i < 90, h[i % 2] += i;
  }
  CHECK(a == 16 && b == 1024 && c == 523776 && d == 523776L << 20 && e == 512 && f == 256);
  CHECK(g[0] == 30 && g[1] == 30 && g[2] == 30 && h[0] == 261632 && h[1] == 262144);
  return DONE();
}
