// OpenMP 5.2, section 11.5.3: with monotonic each thread sees its iterations in increasing order; nonmonotonic runs each once.
// stdout: ok
// levels: O0 O2
#include "../../check.h"
#define LOOP(clause) { \
    int hits[400] = {0}; \
    _Pragma("omp parallel num_threads(4)") { \
      int last = -1; (void)last; \
      _Pragma(clause) \
      for (int i = 0; i < 400; i++) { hits[i]++; if (ordered_wanted) CHECK(i > last); last = i; } \
    } \
    for (int i = 0; i < 400; i++) CHECK(hits[i] == 1); }
int main(void) {
  int ordered_wanted = 1;
  LOOP("omp for schedule(monotonic : dynamic, 3)")
  LOOP("omp for schedule(monotonic : guided, 2)")
  LOOP("omp for schedule(monotonic : static, 5)")
  LOOP("omp for schedule(monotonic : runtime)")
  ordered_wanted = 0;
  LOOP("omp for schedule(nonmonotonic : dynamic, 3)")
  LOOP("omp for schedule(nonmonotonic : guided)")
  LOOP("omp for schedule(nonmonotonic : dynamic)")
  return DONE();
}
