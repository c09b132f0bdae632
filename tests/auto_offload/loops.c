// OpenMP 5.2, sections 11.5 and 5.4: loops of every kind on a device without `target`: their schedules, the types that
// they count in, private variables, and functions that they call.
#include "../check.h"
#include <math.h>
enum { N = 1000 };
static int table[7] = {3, 1, 4, 1, 5, 9, 2};
static double area(double r) { return 3.0 * r * r; }
static double twice(double v) { return area(v) + area(v + 1); }
int main(void) {
  static long a[N];
  int *b = malloc(sizeof(int) * N);
  double *d = malloc(sizeof(double) * N);
#pragma omp parallel for
  for (int i = 0; i < N; i++) a[i] = 3L * i;
  for (int i = 0; i < N; i++) CHECK(a[i] == 3L * i);
#pragma omp parallel for schedule(static, 7)
  for (unsigned i = 5; i < N; i += 3) b[i] = (int)i;
  for (unsigned i = 5; i < N; i += 3) CHECK(b[i] == (int)i);
#pragma omp parallel for schedule(dynamic, 3)
  for (long i = N - 1; i >= 0; i -= 2) b[i] = (int)-i;
  for (long i = N - 1; i >= 0; i -= 2) CHECK(b[i] == -i);
#pragma omp parallel for schedule(guided)
  for (unsigned long i = 0; i < N; i++) b[i] = (int)(i * i);
  for (int i = 0; i < N; i++) CHECK(b[i] == i * i);
#pragma omp parallel for collapse(2)
  for (int i = 0; i < 20; i++)
    for (int j = 0; j < 50; j++) b[50 * i + j] = 100 * i + j;
  for (int i = 0; i < N; i++) CHECK(b[i] == 100 * (i / 50) + i % 50);
  int first = 40, last = -1, kept = 7;
#pragma omp parallel for firstprivate(first) lastprivate(last)
  for (int i = 0; i < N; i++) {
    first += i;
    last = first + kept;
    b[i] = last;
  }
  CHECK(last == 40 + N - 1 + 7 && first == 40);
  for (int i = 0; i < N; i++) CHECK(b[i] == 47 + i);
#pragma omp parallel for
  for (int i = 0; i < N; i++) d[i] = twice(i) + sin(i) * exp(-i / 100.0) + sqrt(i) + pow(i, 0.25) + fabs(500.0 - i);
  for (int i = 0; i < N; i++) {
    double want = twice(i) + sin(i) * exp(-i / 100.0) + sqrt(i) + pow(i, 0.25) + fabs(500.0 - i);
    CHECK(fabs(d[i] - want) <= 1e-12 * fabs(want));
  }
#pragma omp parallel for
  for (int i = 0; i < N; i++) b[i] = table[i % 7];
  for (int i = 0; i < N; i++) CHECK(b[i] == table[i % 7]);
  long many = 0;
#pragma omp parallel for
  for (int i = 0; i < N; i++) {
#pragma omp atomic
    many += i;
  }
  CHECK(many == N * (N - 1) / 2);
#pragma omp parallel
  {
    long mine = 2;
#pragma omp for
    for (int i = 0; i < N; i++) a[i] = mine * i;
  }
  for (int i = 0; i < N; i++) CHECK(a[i] == 2L * i);
#pragma omp parallel for num_threads(3)
  for (int i = 0; i < N; i++) {
    float local[8];
    for (int k = 0; k < 8; k++) local[k] = (float)(i + k);
    float sum = 0;
    for (int k = 0; k < 8; k++) sum += local[(k * 3 + i) & 7];
    d[i] = sum;
  }
  for (int i = 0; i < N; i++) CHECK(d[i] == 8.0 * i + 28);
  free(b), free(d);
  return DONE();
}
