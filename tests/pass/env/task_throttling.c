// KMP_ENABLE_TASK_THROTTLING=0 (libomp): no task is executed at its creation, no matter how many are waiting.
// stdout: ok
// levels: O0 O2
// env: OMP_NUM_THREADS=2 KMP_ENABLE_TASK_THROTTLING=0
#include "../../check.h"

enum { MANY = 5000 };

int main(void) {
  int early = 0, executed = 0, creating = 1;
#pragma omp parallel shared(early, executed, creating)
  {
#pragma omp master
    {
      for (int i = 0; i < MANY; i++) {
#pragma omp task shared(early, executed, creating)
        {
          if (omp_get_thread_num() == 0 && creating) {
#pragma omp atomic
            early++;
          }
#pragma omp atomic
          executed++;
        }
      }
      creating = 0;
    }
  }
  CHECK(early == 0);
  CHECK(executed == MANY);
  return DONE();
}
