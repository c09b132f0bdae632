// OpenMP 5.2, section 11.5.3: schedule(dynamic, c) runs every iteration once, in chunks that stay with one thread.
// stdout: ok
// levels: O0 O2
#include "../../check.h"
static void run(int n, int chunk) {
  int owner[300], hits[300] = {0};
#pragma omp parallel for num_threads(4) schedule(dynamic, chunk)
  for (int i = 0; i < n; i++) {
    owner[i] = omp_get_thread_num();
#pragma omp atomic
    hits[i]++;
  }
  for (int i = 0; i < n; i++) CHECK(hits[i] == 1 && owner[i] == owner[i - i % chunk]);
}
int main(void) {
  run(300, 1); run(299, 7); run(100, 100); run(5, 64); run(0, 3); run(1, 1);
  return DONE();
}
