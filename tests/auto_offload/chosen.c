// The runtime chooses where regions run: whatever it chooses, results equal those of the host.
// options: --offload=auto
// flags: -g
#include "../check.h"
enum { N = 60000, ROUNDS = 300 };
static void work(double *x, int from, int to) {
#pragma omp parallel for
  for (int i = from; i < to; i++) {
    double v = x[i];
    for (int k = 0; k < 40; k++) v = v * 0.75 + 1;
    x[i] = v;
  }
}
int main(void) {
  double *x = malloc(sizeof(double) * N), *y = malloc(sizeof(double) * N), sum = 0, want = 0;
  for (int i = 0; i < N; i++) x[i] = y[i] = i;
  for (int r = 0; r < ROUNDS; r++) {
    work(x, 0, N);
    // The same in pieces too short to be offloaded.
    if (r < 3) {
      for (int i = 0; i < N; i += 10) work(y, i, i + 10);
      CHECK(memcmp(x, y, sizeof(double) * N) == 0);
    }
    if (r % 10 == 5) x[r] += 1;
    sum = 0;
#pragma omp parallel for reduction(+ : sum)
    for (int i = 0; i < N; i++) sum += x[i];
  }
  for (int i = 0; i < N; i++) want += x[i];
  CHECK(sum - want < 1e-6 && want - sum < 1e-6);
  free(x), free(y);
  return DONE();
}
