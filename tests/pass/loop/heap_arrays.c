// OpenMP 5.2, section 11.5: loops over heap arrays that are disjoint, the same, or overlapping, from call to call.
// A loop version that assumes disjoint arrays must run only if they are.
// stdout: ok
// levels: O0 O2
#include "../../check.h"

enum { N = 4096 };

/* The loops' results, computed in source order. */
static void in_order(volatile float *a, volatile float *b, const volatile int *ix,
                     volatile float *scale, long n) {
  for (long i = 0; i < n; i++) {
    a[i] = b[ix[i]] * *scale + a[i];
    b[i] = a[i] - 1.0f;
  }
}

__attribute__((noinline)) static void plain(float *a, float *b, const int *ix, float *scale, long n) {
  for (long i = 0; i < n; i++) {
    a[i] = b[ix[i]] * *scale + a[i];
    b[i] = a[i] - 1.0f;
  }
}

/* The same in a region, in which all variables are captured. */
__attribute__((noinline)) static void captured(float *a, float *b, const int *ix, float *scale, long n) {
#pragma omp parallel num_threads(2)
#pragma omp for schedule(static, 1)
  for (int part = 0; part < 1; part++)
    for (long i = 0; i < n; i++) {
      a[i] = b[ix[i]] * *scale + a[i];
      b[i] = a[i] - 1.0f;
    }
}

/* Sums that a compiler may keep in registers if no other access aliases them. */
__attribute__((noinline)) static void sums(double *s, const double *m, const double *v, long n) {
  for (long i = 0; i < n; i++)
    for (long k = 0; k < n; k++)
      s[i] += m[i * n + k] * v[k];
}

static void fill(float *p, long n) {
  for (long i = 0; i < n; i++)
    p[i] = (float)(i % 13) * 0.25f;
}

static void sums_in_order(volatile double *s, const double *m, volatile double *v, long n) {
  for (long i = 0; i < n; i++)
    for (long k = 0; k < n; k++)
      s[i] += m[i * n + k] * v[k];
}

typedef void kernel(float *, float *, const int *, float *, long);

/* Runs a kernel on memory with the given layout, and again in order on a copy: offsets into one block
 * of 4 N floats, or a separate block if the offset is negative. */
static void same(kernel *f, long a_at, long b_at, long scale_at) {
  static int ix[N];
  float *blocks[2], *own[2][3];
  for (long i = 0; i < N; i++)
    ix[i] = (int)((i * 7 + 3) % N);
  long at[3] = {a_at, b_at, scale_at};
  float *p[2][3];
  for (int side = 0; side < 2; side++) {
    blocks[side] = malloc(4 * N * sizeof(float));
    fill(blocks[side], 4 * N);
    for (int k = 0; k < 3; k++) {
      own[side][k] = malloc(N * sizeof(float));
      fill(own[side][k], N);
      p[side][k] = at[k] < 0 ? own[side][k] : blocks[side] + at[k];
    }
    *p[side][2] = 0.5f;
  }
  f(p[0][0], p[0][1], ix, p[0][2], N);
  in_order(p[1][0], p[1][1], ix, p[1][2], N);
  CHECK(!memcmp(blocks[0], blocks[1], 4 * N * sizeof(float)));
  for (int k = 0; k < 3; k++)
    CHECK(!memcmp(own[0][k], own[1][k], N * sizeof(float)));
  for (int side = 0; side < 2; side++) {
    for (int k = 0; k < 3; k++)
      free(own[side][k]);
    free(blocks[side]);
  }
}

int main(void) {
  kernel *kernels[] = {plain, captured};
  for (int round = 0; round < 20; round++)
    for (int k = 0; k < 2; k++) {
      same(kernels[k], -1, -1, -1);            /* all disjoint */
      same(kernels[k], 0, -1, -1);             /* the start of a block, and others */
      same(kernels[k], 0, 0, -1);              /* the same array */
      same(kernels[k], 0, 1, -1);              /* one element on */
      same(kernels[k], 0, 2 * N, -1);          /* disjoint in one block */
      same(kernels[k], 0, -1, 100);            /* the factor is an element of an array */
      same(kernels[k], -1, 0, 3 * N);          /* it lies behind an array, in its block */
    }
  /* A block that reuses the memory of a freed one, and one that grew. */
  enum { M = 300 };
  for (int round = 0; round < 20; round++) {
    double *s = calloc(M, sizeof *s), *m = malloc(M * M * sizeof *m), *v = malloc(M * sizeof *v);
    v = realloc(v, 4 * M * sizeof *v);
    for (long i = 0; i < M * M; i++)
      m[i] = i % 3 ? 0.25 : -0.5;
    for (long i = 0; i < M; i++)
      v[i] = 1.0;
    for (long i = 0; i < M; i++)
      v[i] = i % 5 * 0.001;
    for (int again = 0; again < 2; again++) {
      /* Disjoint; then the sums alias the vector, so that each changes later elements. */
      double *to = again ? v : s, *copy = malloc(2 * M * sizeof *copy), *from = again ? copy : copy + M;
      memcpy(copy, to, M * sizeof *copy);
      memcpy(copy + M, v, M * sizeof *copy);
      sums_in_order(copy, m, from, M);
      sums(to, m, v, M);
      CHECK(!memcmp(copy, to, M * sizeof *copy));
      free(copy);
    }
    free(m);
    free(v);
    free(s);
  }
  return DONE();
}
