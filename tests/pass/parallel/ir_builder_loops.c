// Worksharing loops as clang emits them through OpenMPIRBuilder.
// stdout: ok
// levels: O0 O2
// flags: -fopenmp-enable-irbuilder
#include "../../check.h"
int main(void) {
  int owner[100], hits[100] = {0};
#pragma omp parallel num_threads(3)
  {
#pragma omp for schedule(static)
    for (int i = 0; i < 100; i++) hits[i]++;
#pragma omp for schedule(static, 4)
    for (int i = 0; i < 100; i++) owner[i] = omp_get_thread_num();
#pragma omp for schedule(dynamic, 3)
    for (int i = 99; i >= 0; i--) hits[i]++;
#pragma omp for schedule(guided) nowait
    for (int i = 0; i < 100; i += 3) hits[i] += 10;
  }
  for (int i = 0; i < 100; i++) CHECK(hits[i] == 2 + (i % 3 ? 0 : 10) && owner[i] == i / 4 % 3);
  return DONE();
}
