// OpenMP 5.2, section 5.7.1: copyin gives every thread the primary thread's values: scalars, arrays, structs.
// stdout: ok
// levels: O0 O2
#include "../../check.h"
static int number; static char text[16]; static struct { int a; double b; } both;
#pragma omp threadprivate(number, text, both)
int main(void) {
  for (int round = 1; round <= 4; round++) {
    number = round * 100, both.a = round, both.b = round * 0.5;
    snprintf(text, sizeof text, "round %d", round);
#pragma omp parallel num_threads(4) copyin(number, text, both)
    {
      CHECK(number == round * 100 && both.a == round && both.b == round * 0.5 && !strncmp(text, "round ", 6) && text[6] == '0' + round);
      number += omp_get_thread_num();
    }
  }
  CHECK(number == 400);
  return DONE();
}
