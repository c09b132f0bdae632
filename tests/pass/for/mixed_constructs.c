// OpenMP 5.2, section 11.5: loops of all schedules, single, sections and barriers one after the other with nowait, many rounds.
// stdout: ok
// levels: O0 O2
#include "../../check.h"
int main(void) {
  int a = 0, b = 0, c = 0, d = 0, e = 0;
#pragma omp parallel num_threads(4)
  for (int round = 0; round < 30; round++) {
#pragma omp for schedule(dynamic, 2) nowait
    for (int i = 0; i < 11; i++) {
#pragma omp atomic
      a++;
    }
#pragma omp single nowait
    {
#pragma omp atomic
      b++;
    }
#pragma omp for schedule(guided) nowait
    for (long i = 0; i < 13; i++) {
#pragma omp atomic
      c++;
    }
#pragma omp sections nowait
    {
#pragma omp section
      {
#pragma omp atomic
        d++;
      }
#pragma omp section
      {
#pragma omp atomic
        d++;
      }
    }
#pragma omp for schedule(static, 1) nowait
    for (unsigned long i = 0; i < 5; i++) {
#pragma omp atomic
      e++;
    }
    if (round % 7 == 3) {
#pragma omp barrier
    }
  }
  CHECK(a == 330 && b == 30 && c == 390 && d == 60 && e == 150);
  return DONE();
}
