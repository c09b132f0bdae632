// Times of regions and copies on each device: run it with `--devices=each` under a launcher of MPI.
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { RUNS = 2000, ROUNDS = 3 };
static double t[RUNS];

static int order(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

static void show(const char *what, int device, int count, double bytes) {
  qsort(t, count, sizeof *t, order);
  printf("device %d, %s: least %.1f us, median %.1f us", device, what, t[0] * 1e6,
         t[count / 2] * 1e6);
  if (bytes > 0) printf(", %.2f GB/s", bytes / t[0] / 1e9);
  printf("\n");
}

#define MEASURE(count, ...)                  \
  for (int i = 0; i < (count); i++) {        \
    double start = omp_get_wtime();          \
    __VA_ARGS__                              \
    t[i] = omp_get_wtime() - start;          \
  }

int main(void) {
  int devices = omp_get_num_devices(), host = omp_get_initial_device(), x = 0;
  for (int round = 0; round < ROUNDS; round++)
    for (int d = 0; d < devices; d++) {
      MEASURE(RUNS, {
        _Pragma("omp target device(d)") {}
      })
      show("empty region", d, RUNS, 0);
      MEASURE(RUNS, {
        _Pragma("omp target device(d) map(tofrom : x)") { x++; }
      })
      show("region with one int", d, RUNS, 0);
    }
  for (size_t size = 4; size <= (size_t)256 << 20; size *= size < 4096 ? 1024 : 16) {
    char *v = malloc(size), what[64];
    memset(v, 1, size);
    int count = size < 1 << 20 ? RUNS : 9;
    for (int d = 0; d < devices; d++) {
      void *there = omp_target_alloc(size, d);
      MEASURE(count, omp_target_memcpy(there, v, size, 0, 0, d, host);)
      snprintf(what, sizeof what, "%zu bytes to it", size);
      show(what, d, count, size);
      MEASURE(count, omp_target_memcpy(v, there, size, 0, 0, host, d);)
      snprintf(what, sizeof what, "%zu bytes from it", size);
      show(what, d, count, size);
      omp_target_free(there, d);
    }
    free(v);
  }
  return 0;
}
