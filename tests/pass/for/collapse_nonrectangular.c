// OpenMP 5.2, section 4.4.2: a non-rectangular nest, whose inner bounds depend on the outer variable.
// stdout: ok
// levels: O0 O2
// flags: -fopenmp-version=50
#include "../../check.h"
int main(void) {
  int hits[20][20] = {{0}};
#pragma omp parallel for collapse(2) num_threads(4)
  for (int i = 0; i < 20; i++)
    for (int j = 0; j < i + 1; j++) hits[i][j]++;
#pragma omp parallel for collapse(2) num_threads(3) schedule(dynamic, 5)
  for (int i = 0; i < 20; i++)
    for (int j = i; j < 20; j++) hits[i][j] += 10;
  for (int i = 0; i < 20; i++)
    for (int j = 0; j < 20; j++) CHECK(hits[i][j] == (j <= i) + 10 * (j >= i));
  return DONE();
}
