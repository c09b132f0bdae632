// OpenMP 5.2, section 11.5.3: schedule(guided, c) runs every iteration once; chunks are at least c but for the last.
// stdout: ok
// levels: O0 O2
#include "../../check.h"
static void run(int n, int chunk) {
  int owner[500], hits[500] = {0};
#pragma omp parallel for num_threads(3) schedule(guided, chunk)
  for (int i = 0; i < n; i++) {
    owner[i] = omp_get_thread_num();
#pragma omp atomic
    hits[i]++;
  }
  for (int i = 0; i < n; i++) CHECK(hits[i] == 1);
  for (int from = 0, i = 1; i <= n; i++)
    if (i == n || owner[i] != owner[from]) { CHECK(i - from >= chunk || i == n); from = i; }
}
int main(void) {
  run(500, 1); run(499, 5); run(100, 60); run(7, 50); run(0, 2);
  return DONE();
}
