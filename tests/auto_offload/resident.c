// Data stays on the device between regions, and the host sees and changes it in between.
#include "../check.h"
#include <string.h>
enum { N = 40000 };
static double big[N];
static double *where;
typedef struct {
  double *x, *y;
  long n;
} Data;
static void saxpy(Data *d, double a) {
#pragma omp parallel for
  for (long i = 0; i < d->n; i++) d->y[i] += a * d->x[i];
}
int main(void) {
  double *x = malloc(sizeof(double) * N), *y = calloc(N, sizeof(double));
  for (int i = 0; i < N; i++) x[i] = i;
  Data d = {x, y, N};
  for (int r = 0; r < 10; r++) saxpy(&d, 2);
  CHECK(y[N - 1] == 20.0 * (N - 1) && y[0] == 0 && y[7] == 140);
  // The host writes data that both have, then data that only the device has.
  x[5] = 100;
  saxpy(&d, 1);
  y[6] = 1;
  saxpy(&d, 1);
  CHECK(y[5] == 20 * 5 + 200 && y[6] == 7 && y[8] == 22 * 8);
  memset(x, 0, sizeof(double) * N);
  saxpy(&d, 1);
  CHECK(y[N - 2] == 22.0 * (N - 2));
  // Both pointers point into one block, at its middle.
  Data half = {y, y + N / 2, N / 2};
  for (int i = 0; i < N; i++) y[i] = 1;
  saxpy(&half, 3);
  for (int i = 0; i < N; i++) CHECK(y[i] == (i < N / 2 ? 1 : 4));
  // Variables of the program, one of them a pointer.
  where = x;
#pragma omp parallel for
  for (int i = 0; i < N; i++) big[i] = i, where[i] = big[i] + 1;
  CHECK(big[N - 1] == N - 1 && x[N - 1] == N);
  big[3] = 50;
#pragma omp parallel for
  for (int i = 0; i < N; i++) where[i] = big[i];
  CHECK(x[3] == 50 && x[4] == 4);
  // A region on the host reads it with several threads.
  double sum = 0;
#pragma omp parallel for reduction(+ : sum) num_threads(4)
  for (int i = 0; i < N; i++) sum += x[i];
  CHECK(sum == 47 + (double)N * (N - 1) / 2);
  // An array on the stack.
  double local[3000];
#pragma omp parallel for
  for (int i = 0; i < 3000; i++) local[i] = x[i] * 2;
  for (int i = 0; i < 3000; i++) CHECK(local[i] == 2 * x[i]);
  free(x), free(y);
  return DONE();
}
