// OpenMP 5.2, section 12.5.2: a detached task, finished by omp_fulfill_event.
// flags: -fopenmp-version=52
// exit: 125
// stderr-has: __kmpc_task_allow_completion_event
// stderr-has: task_detach.c:13
// stderr-has: omp_fulfill_event
#include <omp.h>
int main(void) {
  omp_event_handle_t event;
#pragma omp parallel num_threads(2)
#pragma omp single
  {
#pragma omp task detach(event)
    omp_fulfill_event(event);
  }
  return 0;
}
