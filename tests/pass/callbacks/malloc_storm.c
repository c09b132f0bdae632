// malloc, realloc and free across threads: blocks made by one thread are freed by another.
// stdout: ok
// levels: O0 O2
#include "../../check.h"
int main(void) {
  int *blocks[200];
#pragma omp parallel num_threads(4)
  for (int round = 0; round < 5; round++) {
#pragma omp for schedule(dynamic, 3)
    for (int i = 0; i < 200; i++) {
      blocks[i] = malloc(16 + i * 8);
      blocks[i][0] = i, blocks[i][1] = ~i;
    }
#pragma omp for schedule(static, 1)
    for (int i = 199; i >= 0; i--) {
      blocks[i] = realloc(blocks[i], 4000);
      CHECK(blocks[i][0] == i && blocks[i][1] == ~i);
      free(blocks[i]);
    }
  }
  return DONE();
}
