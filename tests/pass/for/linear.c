// OpenMP 5.2, section 5.4.6: a linear variable has its start plus the step per iteration, and its final value after the loop.
// stdout: ok
// levels: O0 O2
#include "../../check.h"
int main(void) {
  int at = 10, seen[50]; char buffer[200] = {0}, *p = buffer;
#pragma omp parallel for num_threads(4) linear(at : 3) linear(p : 2)
  for (int i = 0; i < 50; i++) {
    seen[i] = at;
    *p = i + 1;
    at += 3, p += 2;
  }
  CHECK(at == 160 && p == buffer + 100);
  for (int i = 0; i < 50; i++) CHECK(seen[i] == 10 + 3 * i && buffer[2 * i] == i + 1 && buffer[2 * i + 1] == 0);
  return DONE();
}
