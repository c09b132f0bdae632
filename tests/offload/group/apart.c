// Devices without common memory: what each needs is copied, and what several write is put together.
// options: --device=emulated:3 --devices=all
// env: OMP_TARGET_OFFLOAD=mandatory
// env: OMPVM_EMULATED_LINKS=off
#include "../../check.h"
#include <stdlib.h>
#include <string.h>
enum { N = 4001, ROWS = 53, WIDTH = 71, TURNS = 12 };
static int a[N], b[N], expected[N];
static int same(const int *x, const int *y, int n) { return memcmp(x, y, n * sizeof *x) == 0; }
static void start(int seed) {
  for (int i = 0; i < N; i++)
    a[i] = expected[i] = (i * 7 + seed) % 1001, b[i] = (i * 13 + seed) % 997;
}
// Halos, and borders of shares that move from launch to launch.
static void stencil(void) {
  int *grid = malloc(ROWS * WIDTH * sizeof(int)), *next = malloc(ROWS * WIDTH * sizeof(int));
  int *x = malloc(ROWS * WIDTH * sizeof(int)), *y = malloc(ROWS * WIDTH * sizeof(int));
  for (int i = 0; i < ROWS * WIDTH; i++)
    grid[i] = x[i] = i % 91, next[i] = y[i] = i % 17;
#pragma omp target data map(tofrom : grid[ : ROWS * WIDTH], next[ : ROWS * WIDTH])
  for (int t = 0; t < TURNS; t++) {
#pragma omp target teams distribute parallel for
    for (int i = 1; i < ROWS - 1; i++)
      for (int j = 1; j < WIDTH - 1; j++)
        next[i * WIDTH + j] = grid[(i - 1) * WIDTH + j] + grid[(i + 1) * WIDTH + j] - grid[i * WIDTH + j - 1];
#pragma omp target teams distribute parallel for collapse(2)
    for (int i = 0; i < ROWS; i++)
      for (int j = 0; j < WIDTH; j++)
        grid[i * WIDTH + j] = next[i * WIDTH + j] % 101;
  }
  for (int t = 0; t < TURNS; t++) {
    for (int i = 1; i < ROWS - 1; i++)
      for (int j = 1; j < WIDTH - 1; j++)
        y[i * WIDTH + j] = x[(i - 1) * WIDTH + j] + x[(i + 1) * WIDTH + j] - x[i * WIDTH + j - 1];
    for (int i = 0; i < ROWS * WIDTH; i++)
      x[i] = y[i] % 101;
  }
  CHECK(same(grid, x, ROWS * WIDTH) && same(next, y, ROWS * WIDTH));
  free(grid), free(next), free(x), free(y);
}
// Every second element, a loop that counts down, elements that keep their values.
static void shapes(int from, int to, int step) {
  for (int t = 0; t < TURNS; t++) {
    start(t);
#pragma omp target teams distribute parallel for map(tofrom : a)
    for (int i = 1; i < N; i += 2)
      a[i] = 2 * a[i] + a[i - 1];
#pragma omp target teams distribute parallel for map(tofrom : a) map(to : b)
    for (int i = N - 2; i >= 0; i--)
      if (b[i] % 3)
        a[i] -= b[N - 1 - i];
#pragma omp target teams distribute parallel for map(tofrom : a)
    for (long i = from; i < to; i += step)
      a[i] += i;
    for (int i = 1; i < N; i += 2)
      expected[i] = 2 * expected[i] + expected[i - 1];
    for (int i = N - 2; i >= 0; i--)
      if (b[i] % 3)
        expected[i] -= b[N - 1 - i];
    for (long i = from; i < to; i += step)
      expected[i] += i;
    CHECK(same(a, expected, N));
  }
}
// Elements that an index in memory names, and a part of the array whose order is not known.
static void scattered(void) {
  static int to[N];
  for (int i = 0; i < N; i++)
    to[i] = (long)i * 1999 % N;
  for (int t = 0; t < TURNS; t++) {
    start(t);
#pragma omp target teams distribute parallel for map(tofrom : a) map(to : b, to)
    for (int i = 0; i < N; i++)
      a[to[i]] = b[i] + b[to[i]];
    for (int i = 0; i < N; i++)
      expected[to[i]] = b[i] + b[to[i]];
    CHECK(same(a, expected, N));
  }
}
// Results, and arrays between the regions that compute them.
static void reductions(void) {
  for (int t = 0; t < TURNS; t++) {
    start(t);
    long sum = 5, right = 5;
    int most = -1, largest = -1;
#pragma omp target teams distribute parallel for map(tofrom : a) reduction(+ : sum) reduction(max : most)
    for (int i = 0; i < N; i++) {
      a[i] += i;
      sum += a[i];
      most = a[i] > most ? a[i] : most;
    }
    for (int i = 0; i < N; i++) {
      expected[i] += i;
      right += expected[i];
      largest = expected[i] > largest ? expected[i] : largest;
    }
    CHECK(sum == right && most == largest && same(a, expected, N));
  }
}
// The last iteration's value, and pointers that lie in memory.
struct Row {
  int *values, size;
};
static void others(void) {
  int last = 0;
#pragma omp target teams distribute parallel for lastprivate(last) map(from : last)
  for (int i = 0; i < N; i++)
    last = 3 * i;
  CHECK(last == 3 * (N - 1));
  struct Row rows[40];
  static int values[40][20];
  for (int i = 0; i < 40; i++)
    rows[i].values = values[i], rows[i].size = i % 20;
#pragma omp target data map(tofrom : values)
#pragma omp target teams distribute parallel for map(tofrom : rows)
  for (int i = 0; i < 40; i++)
    for (int k = 0; k < rows[i].size; k++)
      values[i][k] = i + k + rows[i].size;
  int wrong = 0;
  for (int i = 0; i < 40; i++)
    for (int k = 0; k < 20; k++)
      wrong += values[i][k] != (k < i % 20 ? i + k + i % 20 : 0);
  CHECK(wrong == 0);
}
int main(void) {
  stencil();
  shapes(3, N - 5, 7);
  scattered();
  reductions();
  others();
  return DONE();
}
