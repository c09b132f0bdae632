// OpenMP 5.2, section 5.4.5: lastprivate has the value of the sequentially last iteration under every schedule.
// stdout: ok
// levels: O0 O2
#include "../../check.h"
#define LOOP(schedule_) { \
    int x = -1, i; double y[2] = {0}; \
    _Pragma(schedule_) \
    for (i = 0; i < 57; i++) { x = i * 3; y[0] = i, y[1] = -i; } \
    CHECK(x == 168 && i == 57 && y[0] == 56 && y[1] == -56); }
int main(void) {
  LOOP("omp parallel for num_threads(4) lastprivate(x, i, y)")
  LOOP("omp parallel for num_threads(4) schedule(static, 3) lastprivate(x, i, y)")
  LOOP("omp parallel for num_threads(4) schedule(monotonic : dynamic) lastprivate(x, i, y)")
  LOOP("omp parallel for num_threads(4) schedule(monotonic : guided, 2) lastprivate(x, i, y)")
  LOOP("omp parallel for num_threads(4) schedule(runtime) lastprivate(x, i, y)")
  LOOP("omp parallel for num_threads(16) schedule(static, 10) lastprivate(x, i, y)")
  return DONE();
}
