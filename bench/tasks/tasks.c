/*
 * Programs made of tasks, each checked, each line `name<TAB>microseconds`: the best of three.
 *
 * They are small versions of what task runtimes are compared with: recursion without work (fib), search
 * (queens), divide and conquer with memory traffic (sort, strassen), waves of blocks (sparselu), an
 * unbalanced tree (tree), and a graph of dependences (cholesky). `create` and `feed` are the cost of one
 * task alone: each thread its own, and one thread for all others.
 *
 * What not: anything tuned for one runtime. Where a kernel stops making tasks, all sides stop there.
 */
#include <math.h>
#include <omp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void fail(const char *what) {
  fprintf(stderr, "%s: wrong result\n", what);
  exit(1);
}

static uint32_t next_random(uint32_t *state) {
  *state = *state * 1664525u + 1013904223u;
  return *state >> 8;
}

/* --- fib: two tasks per call, nothing else. */
static long fib(int n) {
  if (n < 2) return n;
  long a, b;
#pragma omp task shared(a)
  a = fib(n - 1);
#pragma omp task shared(b)
  b = fib(n - 2);
#pragma omp taskwait
  return a + b;
}

static double run_fib(void) {
  long result = 0;
  double start = omp_get_wtime();
#pragma omp parallel
#pragma omp single
  result = fib(27);
  double took = omp_get_wtime() - start;
  if (result != 196418) fail("fib");
  return took * 1e6;
}

/* --- queens: a task per queen placed, with a copy of the board. */
enum { QUEENS = 10 };

static int fits(int row, const signed char *columns) {
  for (int i = 0; i < row; i++) {
    int distance = columns[row] - columns[i];
    if (distance == 0 || distance == row - i || distance == i - row) return 0;
  }
  return 1;
}

static void queens(int row, const signed char *columns, long *solutions) {
  if (row == QUEENS) {
    *solutions = 1;
    return;
  }
  long below[QUEENS];
  memset(below, 0, sizeof below);
  for (int column = 0; column < QUEENS; column++) {
    signed char board[QUEENS];
    memcpy(board, columns, (size_t)row);
    board[row] = (signed char)column;
    if (!fits(row, board)) continue;
#pragma omp task shared(below) firstprivate(board, column, row)
    queens(row + 1, board, &below[column]);
  }
#pragma omp taskwait
  long sum = 0;
  for (int i = 0; i < QUEENS; i++) sum += below[i];
  *solutions = sum;
}

static double run_queens(void) {
  long solutions = 0;
  signed char none[QUEENS] = {0};
  double start = omp_get_wtime();
#pragma omp parallel
#pragma omp single
  queens(0, none, &solutions);
  double took = omp_get_wtime() - start;
  if (solutions != 724) fail("queens");
  return took * 1e6;
}

/* --- sort: merge sort, the merges in parallel too. */
enum { SORTED = 1 << 21, SORT_LEAF = 2048 };

static int by_value(const void *a, const void *b) {
  uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
  return (x > y) - (x < y);
}

static size_t below(const uint32_t *v, size_t n, uint32_t key) {
  size_t low = 0;
  while (low < n) {
    size_t middle = (low + n) / 2;
    if (v[middle] < key)
      low = middle + 1;
    else
      n = middle;
  }
  return low;
}

static void merge(const uint32_t *a, size_t na, const uint32_t *b, size_t nb, uint32_t *to) {
  if (na < nb) {
    merge(b, nb, a, na, to);
    return;
  }
  if (na + nb <= SORT_LEAF || nb == 0) {
    while (na && nb) {
      if (*b < *a)
        *to++ = *b++, nb--;
      else
        *to++ = *a++, na--;
    }
    memcpy(to, na ? a : b, (na + nb) * sizeof *to);
    return;
  }
  size_t ma = na / 2, mb = below(b, nb, a[ma]);
#pragma omp task
  merge(a, ma, b, mb, to);
#pragma omp task
  merge(a + ma, na - ma, b + mb, nb - mb, to + ma + mb);
#pragma omp taskwait
}

static void sort(uint32_t *v, uint32_t *spare, size_t n) {
  if (n <= SORT_LEAF) {
    qsort(v, n, sizeof *v, by_value);
    return;
  }
  size_t half = n / 2;
#pragma omp task
  sort(v, spare, half);
#pragma omp task
  sort(v + half, spare + half, n - half);
#pragma omp taskwait
  merge(v, half, v + half, n - half, spare);
  memcpy(v, spare, n * sizeof *v);
}

static double run_sort(void) {
  uint32_t *v = malloc(SORTED * sizeof *v), *spare = malloc(SORTED * sizeof *v), state = 7;
  for (int i = 0; i < SORTED; i++) v[i] = next_random(&state);
  double start = omp_get_wtime();
#pragma omp parallel
#pragma omp single
  sort(v, spare, SORTED);
  double took = omp_get_wtime() - start;
  for (int i = 1; i < SORTED; i++)
    if (v[i - 1] > v[i]) fail("sort");
  free(v);
  free(spare);
  return took * 1e6;
}

/* --- strassen: seven products of halves. */
enum { MATRIX = 512, MATRIX_LEAF = 64 };

static void product(int n, const double *a, int lda, const double *b, int ldb, double *c, int ldc) {
  for (int i = 0; i < n; i++) {
    memset(c + i * ldc, 0, (size_t)n * sizeof *c);
    for (int k = 0; k < n; k++)
      for (int j = 0; j < n; j++) c[i * ldc + j] += a[i * lda + k] * b[k * ldb + j];
  }
}

static void combine(int n, const double *a, int lda, const double *b, int ldb, double sign, double *c) {
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++) c[i * n + j] = a[i * lda + j] + sign * b[i * ldb + j];
}

static void strassen(int n, const double *a, int lda, const double *b, int ldb, double *c, int ldc) {
  if (n <= MATRIX_LEAF) {
    product(n, a, lda, b, ldb, c, ldc);
    return;
  }
  int h = n / 2;
  size_t cell = (size_t)h * (size_t)h;
  const double *a11 = a, *a12 = a + h, *a21 = a + h * lda, *a22 = a21 + h;
  const double *b11 = b, *b12 = b + h, *b21 = b + h * ldb, *b22 = b21 + h;
  double *m = malloc(21 * cell * sizeof *m);
#define M(i) (m + (size_t)(i) * cell)
#define PRODUCT(i, LEFT, RIGHT)                                                                    \
  _Pragma("omp task") {                                                                            \
    double *x = M(7 + 2 * (i)), *y = M(8 + 2 * (i));                                               \
    LEFT;                                                                                          \
    RIGHT;                                                                                         \
    strassen(h, x, h, y, h, M(i), h);                                                              \
  }
#define SUM(to, p, q, ld, sign) combine(h, p, ld, q, ld, sign, to)
#define COPY(to, p, ld) combine(h, p, ld, p, ld, 0.0, to)
  PRODUCT(0, SUM(x, a11, a22, lda, 1), SUM(y, b11, b22, ldb, 1))
  PRODUCT(1, SUM(x, a21, a22, lda, 1), COPY(y, b11, ldb))
  PRODUCT(2, COPY(x, a11, lda), SUM(y, b12, b22, ldb, -1))
  PRODUCT(3, COPY(x, a22, lda), SUM(y, b21, b11, ldb, -1))
  PRODUCT(4, SUM(x, a11, a12, lda, 1), COPY(y, b22, ldb))
  PRODUCT(5, SUM(x, a21, a11, lda, -1), SUM(y, b11, b12, ldb, 1))
  PRODUCT(6, SUM(x, a12, a22, lda, -1), SUM(y, b21, b22, ldb, 1))
#pragma omp taskwait
  for (int i = 0; i < h; i++)
    for (int j = 0; j < h; j++) {
      size_t at = (size_t)(i * h + j);
      c[i * ldc + j] = M(0)[at] + M(3)[at] - M(4)[at] + M(6)[at];
      c[i * ldc + j + h] = M(2)[at] + M(4)[at];
      c[(i + h) * ldc + j] = M(1)[at] + M(3)[at];
      c[(i + h) * ldc + j + h] = M(0)[at] - M(1)[at] + M(2)[at] + M(5)[at];
    }
  free(m);
}

static double run_strassen(void) {
  size_t cells = (size_t)MATRIX * MATRIX;
  double *a = malloc(cells * sizeof *a), *b = malloc(cells * sizeof *b), *c = malloc(cells * sizeof *c);
  uint32_t state = 3;
  for (size_t i = 0; i < cells; i++) {
    a[i] = next_random(&state) % 100;
    b[i] = next_random(&state) % 100;
  }
  double start = omp_get_wtime();
#pragma omp parallel
#pragma omp single
  strassen(MATRIX, a, MATRIX, b, MATRIX, c, MATRIX);
  double took = omp_get_wtime() - start;
  for (int i = 0; i < MATRIX; i += 37)
    for (int j = 0; j < MATRIX; j += 41) {
      double want = 0;
      for (int k = 0; k < MATRIX; k++) want += a[i * MATRIX + k] * b[k * MATRIX + j];
      if (fabs(want - c[i * MATRIX + j]) > 1e-3) fail("strassen");
    }
  free(a), free(b), free(c);
  return took * 1e6;
}

/* --- sparselu: LU of a matrix of blocks, many of them empty; waves of tasks with taskwait between. */
enum { BLOCKS = 24, SIDE = 32 };
typedef double Block[SIDE][SIDE];

static void factor(Block d) {
  for (int k = 0; k < SIDE; k++)
    for (int i = k + 1; i < SIDE; i++) {
      d[i][k] /= d[k][k];
      for (int j = k + 1; j < SIDE; j++) d[i][j] -= d[i][k] * d[k][j];
    }
}

static void forward(Block d, Block row) {
  for (int k = 0; k < SIDE; k++)
    for (int i = k + 1; i < SIDE; i++)
      for (int j = 0; j < SIDE; j++) row[i][j] -= d[i][k] * row[k][j];
}

static void divide(Block d, Block column) {
  for (int i = 0; i < SIDE; i++)
    for (int k = 0; k < SIDE; k++) {
      column[i][k] /= d[k][k];
      for (int j = k + 1; j < SIDE; j++) column[i][j] -= column[i][k] * d[k][j];
    }
}

static void update(Block column, Block row, Block inner) {
  for (int i = 0; i < SIDE; i++)
    for (int k = 0; k < SIDE; k++)
      for (int j = 0; j < SIDE; j++) inner[i][j] -= column[i][k] * row[k][j];
}

static double lu(Block **m, int tasks) {
  double start = omp_get_wtime();
#pragma omp parallel if (tasks)
#pragma omp single
  for (int k = 0; k < BLOCKS; k++) {
    factor(*m[k * BLOCKS + k]);
    for (int j = k + 1; j < BLOCKS; j++) {
      if (m[k * BLOCKS + j]) {
#pragma omp task if (tasks)
        forward(*m[k * BLOCKS + k], *m[k * BLOCKS + j]);
      }
      if (m[j * BLOCKS + k]) {
#pragma omp task if (tasks)
        divide(*m[k * BLOCKS + k], *m[j * BLOCKS + k]);
      }
    }
#pragma omp taskwait
    for (int i = k + 1; i < BLOCKS; i++)
      for (int j = k + 1; j < BLOCKS; j++) {
        if (!m[i * BLOCKS + k] || !m[k * BLOCKS + j]) continue;
        if (!m[i * BLOCKS + j]) m[i * BLOCKS + j] = calloc(1, sizeof(Block));
#pragma omp task if (tasks)
        update(*m[i * BLOCKS + k], *m[k * BLOCKS + j], *m[i * BLOCKS + j]);
      }
#pragma omp taskwait
  }
  return omp_get_wtime() - start;
}

static Block **sparse(void) {
  Block **m = calloc(BLOCKS * BLOCKS, sizeof *m);
  uint32_t state = 5;
  for (int i = 0; i < BLOCKS; i++)
    for (int j = 0; j < BLOCKS; j++) {
      if (i != j && abs(i - j) != 1 && next_random(&state) % 4) continue;
      Block *block = m[i * BLOCKS + j] = malloc(sizeof *block);
      for (int x = 0; x < SIDE; x++)
        for (int y = 0; y < SIDE; y++)
          (*block)[x][y] = (next_random(&state) % 100) / 100.0 + (i == j && x == y ? 1000.0 : 0.0);
    }
  return m;
}

static double run_sparselu(void) {
  Block **m = sparse(), **reference = sparse();
  double took = lu(m, 1);
  lu(reference, 0);
  for (int i = 0; i < BLOCKS * BLOCKS; i++) {
    if (!m[i] != !reference[i]) fail("sparselu");
    if (m[i] && memcmp(m[i], reference[i], sizeof(Block))) fail("sparselu");
    free(m[i]), free(reference[i]);
  }
  free(m), free(reference);
  return took * 1e6;
}

/* --- tree: how many children a node has is known only there; a task per node. */
static uint64_t mix(uint64_t x) {
  x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9ull;
  x = (x ^ x >> 27) * 0x94d049bb133111ebull;
  return x ^ x >> 31;
}

static void grow(uint64_t node, int depth, long *count) {
  int children = depth == 0 ? 2000 : mix(node) % 1000 < 245 ? 4 : 0;
  long *below = children ? calloc((size_t)children, sizeof *below) : NULL;
  for (int i = 0; i < children; i++) {
#pragma omp task
    grow(mix(node + 1 + (uint64_t)i), depth + 1, &below[i]);
  }
#pragma omp taskwait
  long sum = 1;
  for (int i = 0; i < children; i++) sum += below[i];
  free(below);
  *count = sum;
}

static long grow_alone(uint64_t node, int depth) {
  int children = depth == 0 ? 2000 : mix(node) % 1000 < 245 ? 4 : 0;
  long sum = 1;
  for (int i = 0; i < children; i++) sum += grow_alone(mix(node + 1 + (uint64_t)i), depth + 1);
  return sum;
}

static double run_tree(void) {
  long count = 0;
  double start = omp_get_wtime();
#pragma omp parallel
#pragma omp single
  grow(42, 0, &count);
  double took = omp_get_wtime() - start;
  if (count != grow_alone(42, 0)) fail("tree");
  return took * 1e6;
}

/* --- cholesky: tiles, ordered by dependences alone. */
enum { TILES = 24, TILE = 32 };
typedef double Tile[TILE][TILE];

static void potrf(Tile a) {
  for (int k = 0; k < TILE; k++) {
    a[k][k] = sqrt(a[k][k]);
    for (int i = k + 1; i < TILE; i++) a[i][k] /= a[k][k];
    for (int j = k + 1; j < TILE; j++)
      for (int i = j; i < TILE; i++) a[i][j] -= a[i][k] * a[j][k];
  }
}

static void trsm(Tile l, Tile b) {
  for (int i = 0; i < TILE; i++)
    for (int k = 0; k < TILE; k++) {
      for (int j = 0; j < k; j++) b[i][k] -= b[i][j] * l[k][j];
      b[i][k] /= l[k][k];
    }
}

static void gemm(Tile a, Tile b, Tile c) {
  for (int i = 0; i < TILE; i++)
    for (int j = 0; j < TILE; j++) {
      double sum = 0;
      for (int k = 0; k < TILE; k++) sum += a[i][k] * b[j][k];
      c[i][j] -= sum;
    }
}

static double run_cholesky(void) {
  Tile(*m)[TILES] = malloc(sizeof(Tile[TILES][TILES]));
  uint32_t state = 9;
  for (int i = 0; i < TILES; i++)
    for (int j = 0; j <= i; j++)
      for (int x = 0; x < TILE; x++)
        for (int y = 0; y < TILE; y++)
          m[i][j][x][y] = i == j ? (x == y ? 2000.0 : 1.0 / (1 + abs(x - y))) : (next_random(&state) % 100) / 100.0;
  Tile(*whole)[TILES] = malloc(sizeof(Tile[TILES][TILES]));
  memcpy(whole, m, sizeof(Tile[TILES][TILES]));
  double start = omp_get_wtime();
#pragma omp parallel
#pragma omp single
  for (int k = 0; k < TILES; k++) {
#pragma omp task depend(inout : m[k][k])
    potrf(m[k][k]);
    for (int i = k + 1; i < TILES; i++) {
#pragma omp task depend(in : m[k][k]) depend(inout : m[i][k])
      trsm(m[k][k], m[i][k]);
    }
    for (int i = k + 1; i < TILES; i++)
      for (int j = k + 1; j <= i; j++) {
#pragma omp task depend(in : m[i][k], m[j][k]) depend(inout : m[i][j])
        gemm(m[i][k], m[j][k], m[i][j]);
      }
  }
  double took = omp_get_wtime() - start;
  for (int i = 0; i < TILES * TILE; i += 53)
    for (int j = 0; j <= i; j += 47) {
      double sum = 0;
      for (int k = 0; k <= j; k++) sum += m[i / TILE][k / TILE][i % TILE][k % TILE] * m[j / TILE][k / TILE][j % TILE][k % TILE];
      if (fabs(sum - whole[i / TILE][j / TILE][i % TILE][j % TILE]) > 1e-6) fail("cholesky");
    }
  free(m), free(whole);
  return took * 1e6;
}

/* --- one task alone. */
enum { EACH = 100000 };
static volatile int sink;

static double run_create(void) {
  double start = omp_get_wtime();
#pragma omp parallel
  for (int i = 0; i < EACH; i++) {
#pragma omp task
    sink;
  }
  return (omp_get_wtime() - start) * 1e6 / EACH;
}

static double run_feed(void) {
  double start = omp_get_wtime();
#pragma omp parallel
#pragma omp masked
  for (int i = 0; i < EACH; i++) {
#pragma omp task
    sink;
  }
  return (omp_get_wtime() - start) * 1e6 / EACH;
}

int main(void) {
  static const struct {
    const char *name;
    double (*run)(void);
  } kernels[] = {
      {"fib", run_fib},       {"queens", run_queens}, {"sort", run_sort},         {"strassen", run_strassen}, {"sparselu", run_sparselu},
      {"tree", run_tree},     {"cholesky", run_cholesky}, {"one task, created by each", run_create}, {"one task, fed by one", run_feed},
  };
  for (size_t i = 0; i < sizeof kernels / sizeof *kernels; i++) {
    double best = INFINITY;
    for (int k = 0; k < 3; k++) best = fmin(best, kernels[i].run());
    printf("%s\t%.4f\n", kernels[i].name, best);
    fflush(stdout);
  }
  return 0;
}
