// Threadprivate variables, and private arrays, that keep regions on the host, each for its reason.
// flags: -g
// stderr-has: on the host
#include "../check.h"
enum { N = 64, LONG = 100 };
static int part[LONG], stale[LONG], kept[LONG], told[4], copied[4], length[LONG], either[LONG];
double seen[4];
static double sums[4], floats[4];
#pragma omp threadprivate(part, stale, kept, told, copied, length, either, seen, sums, floats)
static int out[N], *keeper[64];
static double shared[4];
static int count;
__attribute__((noinline)) static int tell(void) { return told[1]; }
int main(int argc, char **argv) {
  (void)argv;
  // Only a part of it is provably written, or only in one of two branches.
#pragma omp parallel for
  for (int k = 0; k < N; k++) {
    for (int i = 0; i < LONG - 1; i++) part[i] = k;
    out[k] = part[(k * 7) % LONG];
  }
#pragma omp parallel for
  for (int k = 0; k < N; k++) {
    for (int i = 0; i < 98 + argc; i++) length[i] = k;
    out[k] = length[(k * 7) % 90];
  }
#pragma omp parallel for
  for (int k = 0; k < N; k++) {
    if (k % 2)
      for (int i = 0; i < LONG; i++) either[i] = k;
    out[k] = either[(k * 7) % LONG];
  }
  // Read before it is written.
#pragma omp parallel for
  for (int k = 0; k < N; k++) {
    int before = stale[k % LONG];
    for (int i = 0; i < LONG; i++) stale[i] = k;
    out[k] = stale[(k * 7) % LONG] + before;
  }
  // Its address escapes.
#pragma omp parallel for
  for (int k = 0; k < N; k++) {
    for (int i = 0; i < LONG; i++) kept[i] = k;
    keeper[k] = &kept[k];
  }
  // Another function reads it afterwards.
#pragma omp parallel for
  for (int k = 0; k < N; k++) {
    for (int i = 0; i < 4; i++) told[i] = k;
    out[k] = told[k % 4];
  }
  CHECK(tell() < N);
  // It is copied in from the primary thread.
  copied[1] = 5;
#pragma omp parallel for copyin(copied)
  for (int k = 0; k < N; k++) out[k] = copied[k % 4];
  CHECK(out[1] == 5);
  // It has external linkage.
#pragma omp parallel for
  for (int k = 0; k < N; k++) {
    for (int i = 0; i < 4; i++) seen[i] = k;
    out[k] = (int)seen[k % 4];
  }
  // Floating-point numbers.
#pragma omp parallel
  {
    for (int i = 0; i < 4; i++) sums[i] = 0;
#pragma omp for nowait
    for (int k = 0; k < N; k++) sums[k % 4] += k * 0.1;
    for (int i = 0; i < 4; i++) {
#pragma omp atomic
      shared[i] += sums[i];
    }
  }
  // Each thread starts with one.
#pragma omp parallel
  {
    double mine[4] = {1, 1, 1, 1};
#pragma omp for nowait
    for (int k = 0; k < N; k++) mine[k % 4] += k;
    for (int i = 0; i < 4; i++) {
#pragma omp atomic
      shared[i] += mine[i];
    }
  }
  // A loop reads the sum.
#pragma omp parallel
  {
    for (int i = 0; i < 4; i++) floats[i] = 0;
#pragma omp for nowait
    for (int k = 0; k < N; k++) floats[k % 4] += 1, out[k] = floats[k % 4] > 3;
    for (int i = 0; i < 4; i++) {
#pragma omp atomic
      shared[i] += floats[i];
    }
  }
  // The region counts threads.
#pragma omp parallel
  {
    int mine[4] = {0};
#pragma omp for nowait
    for (int k = 0; k < N; k++) mine[k % 4] += 1;
#pragma omp critical
    {
      for (int i = 0; i < 4; i++) shared[i] += mine[i];
      count++;
    }
  }
  CHECK(count > 0 && shared[0] > 0 && keeper[3]);
  return DONE();
}
