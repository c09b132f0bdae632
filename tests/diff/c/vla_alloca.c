// Variable length arrays, two-dimensional VLAs as parameters, alloca, sizeof of a VLA, stack release in loops.
#include <stdio.h>
#include <alloca.h>
#include <string.h>
static long trace(int n, int m, int a[n][m]) {
  long t = 0;
  for (int i = 0; i < n && i < m; i++) t += a[i][i];
  return t;
}
__attribute__((noinline)) static unsigned loop(int n) {
  unsigned h = 0;
  for (int i = 1; i < n; i++) {
    unsigned char b[i * 16];
    memset(b, i, sizeof b);
    h = h * 31 + b[i * 16 - 1] + (unsigned)sizeof b;
  }
  return h;
}
int main(void) {
  volatile int n = 7, m = 5;
  int a[n][m];
  for (int i = 0; i < n; i++)
    for (int j = 0; j < m; j++) a[i][j] = i * 10 + j;
  char *p = alloca((size_t)n + 20);
  strcpy(p, "alloca");
  char *q[3];
  for (int i = 0; i < 3; i++) {
    q[i] = alloca(16);
    sprintf(q[i], "q%d", i * m);
  }
  typedef double row[m];
  row r;
  for (int i = 0; i < m; i++) r[i] = i * 0.5;
  printf("%ld %zu %s %s%s%s %zu %g %u\n", trace(n, m, a), sizeof a, p, q[0], q[1], q[2], sizeof(row), r[4], loop(600));
  return 0;
}
