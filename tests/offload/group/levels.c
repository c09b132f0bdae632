// Several devices as one: all grids of a multigrid method in one block, whose parts move so that
// each large grid is divided for itself. Addresses and contents stay, also of pointers in memory,
// while another thread copies.
// options: --device=emulated:3 --devices=all --log offload=debug
// env: OMP_TARGET_OFFLOAD=mandatory OMP_NUM_THREADS=2
// stderr-has: planned another placement of a block
// stderr-has: moved=true
#include "../../check.h"
#include <stdlib.h>
enum { LEVELS = 5, TOP = 24576, ALL = 2 * TOP, OTHER = 3000 };
struct grid {
  double *values;
  long count;
};
int main(void) {
  double *block = malloc(ALL * sizeof(double)), *side = malloc(OTHER * sizeof(double));
  struct grid grid[LEVELS];
  long start = 0;
  for (int l = 0; l < LEVELS; l++) {
    grid[l].values = block + start;
    grid[l].count = TOP >> 2 * (LEVELS - 1 - l);
    start += grid[l].count;
  }
  for (long i = 0; i < ALL; i++)
    block[i] = i % 100;
#pragma omp target enter data map(to : block[ : ALL])
#pragma omp target enter data map(to : grid)
  long first[LEVELS];
  for (int l = 0; l < LEVELS; l++)
    first[l] = grid[l].values - block;
#pragma omp target map(to : first)
  for (int l = 0; l < LEVELS; l++)
    grid[l].values = block + first[l];
  int wrong = 0, rounds = 60;
#pragma omp parallel sections reduction(+ : wrong)
  {
#pragma omp section
    for (int round = 0; round < rounds; round++)
      for (int l = LEVELS - 1; l >= 0; l--) {
        double *g = grid[l].values;
        long count = grid[l].count;
#pragma omp target teams distribute parallel for map(present, alloc : g[ : count])
        for (long i = 0; i < count; i++)
          g[i] += 1;
        if (round % 16 == 15) {
          // Reads through the pointers that lie on the device.
          double sum = 0, expected = 0;
#pragma omp target teams distribute parallel for reduction(+ : sum) map(tofrom : sum)
          for (long i = 0; i < count; i++)
            sum += grid[l].values[i];
          for (long i = 0; i < count; i++)
            expected += (g - block + i) % 100 + round + 1;
          wrong += sum != expected;
        }
      }
#pragma omp section
    for (int round = 0; round < rounds; round++) {
      for (long i = 0; i < OTHER; i++)
        side[i] = i;
#pragma omp target data map(tofrom : side[ : OTHER])
#pragma omp target teams distribute parallel for
      for (long i = 0; i < OTHER; i++)
        side[i] += round;
      for (long i = 0; i < OTHER; i++)
        wrong += side[i] != i + round;
    }
  }
#pragma omp target exit data map(from : block[ : ALL])
  for (long i = 0; i < ALL; i++)
    wrong += block[i] != i % 100 + (i < start ? rounds : 0);
  CHECK(wrong == 0);
  DONE();
}
