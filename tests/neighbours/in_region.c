// Every thread of a region of the guest makes the library run its own region; so do tasks, and between them the guest's
// barriers, critical regions and numbers are the guest's.
// stdout: ok
#include "../check.h"
#include "neighbour.inc"

void by_name(int number) {}

int main(void) {
  int calls = 0, tasks = 0;
#pragma omp parallel num_threads(4)
  {
    int me = omp_get_thread_num(), view[3];
    for (int round = 0; round < 10; round++) {
      CHECK(native_sum(2, 10 * me) == 5 * me * (10 * me + 1));
      CHECK(omp_get_thread_num() == me && omp_get_num_threads() == 4 && omp_get_level() == 1);
      // The library's runtime knows nothing of the guest's region.
      native_view(view);
      CHECK(view[0] == 0 && view[1] == 1 && view[2] == 0);
#pragma omp barrier
#pragma omp critical
      calls += native_sum(2, 1) == 1;
    }
#pragma omp single
    for (int i = 0; i < 20; i++) {
#pragma omp task shared(tasks)
      {
        CHECK(native_sum(2, 20) == 210);
#pragma omp atomic
        tasks++;
      }
    }
  }
  CHECK(calls == 40 && tasks == 20);
  return DONE();
}
