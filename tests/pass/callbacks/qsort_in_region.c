// Native qsort and bsearch with guest comparators, called by all threads at once.
// stdout: ok
// levels: O0 O2
#include "../../check.h"
static int compare(const void *a, const void *b) { return *(const int *)a - *(const int *)b; }
int main(void) {
#pragma omp parallel num_threads(4)
  {
    int v[200], me = omp_get_thread_num();
    for (int i = 0; i < 200; i++) v[i] = i * (37 + 2 * me) % 199;
    qsort(v, 200, sizeof v[0], compare);
    for (int i = 1; i < 200; i++) CHECK(v[i - 1] <= v[i]);
    int key = 150, *found = bsearch(&key, v, 200, sizeof v[0], compare);
    CHECK(found && *found == 150);
  }
  return DONE();
}
