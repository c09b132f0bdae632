// OpenMP 5.2, section 4.4.3: collapse(3) over variables of different types, steps and directions, under dynamic.
// stdout: ok
// levels: O0 O2
#include "../../check.h"
int main(void) {
  int hits[4][5][3] = {{{0}}};
#pragma omp parallel for collapse(3) num_threads(3) schedule(dynamic, 4)
  for (unsigned char i = 0; i < 4; i++)
    for (long j = 20; j > 0; j -= 4)
      for (short k = -1; k <= 1; k++) hits[i][j / 4 - 1][k + 1]++;
  for (int i = 0; i < 60; i++) CHECK((&hits[0][0][0])[i] == 1);
  return DONE();
}
