// OpenMP 5.2, section 5.4.5: lastprivate under nonmonotonic schedules, where a thread may run earlier iterations after the last one.
// stdout: ok
// levels: O0 O2
// native: skip (libomp 19 gives a wrong value in about one run of three: clang keeps one private copy per thread, and stealing runs earlier chunks into it)
#include "../../check.h"
int main(void) {
  for (int round = 0; round < 20; round++) {
    int x = -1, y = -1;
#pragma omp parallel for num_threads(4) schedule(dynamic) lastprivate(x)
    for (int i = 0; i < 57; i++) x = i * 3;
#pragma omp parallel for num_threads(4) schedule(nonmonotonic : guided) lastprivate(y)
    for (int i = 0; i < 57; i++) y = i * 3;
    CHECK(x == 168 && y == 168);
  }
  return DONE();
}
