// Processors help a device: they use what a region maps where it is, and keep what must not change.
// options: --device=emulated:3 --devices=all,cpu
// env: OMP_TARGET_OFFLOAD=mandatory
#include "../../check.h"
#include <stdlib.h>
enum { N = 20011, TURNS = 16 };
static double *array(double of) {
  double *a = malloc(N * sizeof *a);
  for (int i = 0; i < N; i++)
    a[i] = of * i;
  return a;
}
// In place: each turn copies to and from the host.
static void updates(void) {
  double *x = array(1), *y = array(2);
  for (int t = 0; t < TURNS; t++) {
#pragma omp target teams distribute parallel for map(to : x[ : N]) map(tofrom : y[ : N])
    for (long i = 0; i < N; i++)
      y[i] += x[i];
    x[t * 31] += 1;
    y[t * 31] -= 1;
  }
  int wrong = 0;
  for (int i = 0; i < N; i++) {
    int turn = i % 31 == 0 && i / 31 < TURNS ? i / 31 : TURNS;
    double added = turn == TURNS ? 0 : TURNS - 1 - turn - 1;
    wrong += y[i] != (2.0 + TURNS) * i + added;
  }
  CHECK(wrong == 0);
  free(x), free(y);
}
// Writes an array that is not copied back: the host keeps its contents.
static void private_writes(void) {
  double *in = array(3), *out = array(0);
  for (int t = 0; t < TURNS; t++) {
#pragma omp target teams distribute parallel for map(to : in[ : N]) map(from : out[ : N])
    for (long i = 0; i < N; i++) {
      in[i] += 1;
      out[i] = in[i] * 2;
    }
    int wrong = 0;
    for (int i = 0; i < N; i++)
      wrong += in[i] != 3.0 * i || out[i] != 6.0 * i + 2;
    CHECK(wrong == 0);
  }
  free(in), free(out);
}
// Mapped data stays apart from the host's, whatever the host does meanwhile.
static void resident(void) {
  double *a = array(1);
#pragma omp target data map(to : a[ : N])
  {
    for (int i = 0; i < N; i++)
      a[i] = -1;
    for (int t = 0; t < TURNS; t++) {
#pragma omp target teams distribute parallel for
      for (long i = 0; i < N; i++)
        a[i] *= t % 2 ? 0.5 : 2;
    }
    CHECK(a[1] == -1 && a[N - 1] == -1);
#pragma omp target update from(a[ : N])
  }
  int wrong = 0;
  for (int i = 0; i < N; i++)
    wrong += a[i] != i;
  CHECK(wrong == 0);
  free(a);
}
// Records of each block of the processors, and one of each device.
static void reductions(void) {
  double *a = array(1);
  for (int t = 0; t < TURNS; t++) {
    double sum = 1;
    long most = -1;
#pragma omp target teams distribute parallel for map(to : a[ : N]) map(tofrom : sum, most) \
    reduction(+ : sum) reduction(max : most)
    for (long i = 0; i < N; i++) {
      sum += a[i];
      most = most > i ? most : i;
    }
    CHECK(sum == 1 + (N - 1.0) * N / 2 && most == N - 1);
  }
  free(a);
}
int main(void) {
  updates();
  private_writes();
  resident();
  reductions();
  return DONE();
}
