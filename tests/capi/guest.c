// The guest of the programs in this folder.
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>

double scale = 2.0;

extern int host_add(int a, int b);
extern double host_weight(const double *values, long count);

void nothing(void) {}

double dot(long n, const double *a, const double *b) {
  double sum = 0;
#pragma omp parallel for reduction(+ : sum)
  for (long i = 0; i < n; i++)
    sum += a[i] * b[i];
  return scale * sum;
}

void negate(long n, float *values) {
#pragma omp parallel for
  for (long i = 0; i < n; i++)
    values[i] = -values[i];
}

signed char narrow(signed char a, unsigned short b, _Bool c) { return c ? a - 1 : (signed char)b; }

float mixed(float a, double b, int c, const char *d, float e) { return a + b + c + d[0] + e; }

long many(long a, long b, long c, long d, long e, long f, long g, double h) {
  return a + 2 * b + 3 * c + 4 * d + 5 * e + 6 * f + 7 * g + (long)(8 * h);
}

int through(int a) { return host_add(a, 40); }

double weigh(long n) {
  double values[16];
  for (int i = 0; i < 16; i++)
    values[i] = i;
  return host_weight(values, n);
}

int fault(int *where) {
  *where = 1;
  return 0;
}

int fault_in_team(int *where) {
#pragma omp parallel num_threads(2)
#pragma omp masked
  *where = 1;
  return 0;
}

long spin(volatile long *go) {
  long turns = 0;
#pragma omp parallel reduction(+ : turns)
  while (*go)
    turns++;
  return turns;
}

int team(int asked) {
  int got = 0;
#pragma omp parallel num_threads(asked)
#pragma omp single
  got = omp_get_num_threads();
  return got;
}

void leave(int status) { exit(status); }

int main(int argc, char **argv) {
  printf("%d %s\n", argc, argv[argc - 1]);
  return argc;
}
