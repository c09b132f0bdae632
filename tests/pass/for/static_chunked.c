// OpenMP 5.2, section 11.5.3: schedule(static, c) assigns chunk k to thread k mod team size.
// stdout: ok
// levels: O0 O2
#include "../../check.h"
static void run(int n, int chunk) {
  int owner[100];
  for (int i = 0; i < n; i++) owner[i] = -1;
#pragma omp parallel for num_threads(3) schedule(static, chunk)
  for (int i = 0; i < n; i++) owner[i] = omp_get_thread_num();
  for (int i = 0; i < n; i++) CHECK(owner[i] == i / chunk % 3);
}
int main(void) {
  for (int chunk = 1; chunk < 12; chunk += 2)
    for (int n = 0; n <= 100; n += 9) run(n, chunk);
  run(50, 1000);
  return DONE();
}
