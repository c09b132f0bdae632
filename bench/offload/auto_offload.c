/* The measurements of offload as plain OpenMP for processors, without `target`: what `--offload` makes
 * of it. Names are those of the CUDA version where that does the same. */
#include "common.h"

static void *block(size_t bytes) {
  void *p = malloc(bytes);
  if (!p)
    exit(1);
  return p;
}

static int wanted(int argc, char **argv, const char *name) {
  if (argc < 2)
    return 1;
  for (int i = 1; i < argc; i++)
    if (!strcmp(argv[i], name))
      return 1;
  return 0;
}

static void small(void) {
  double *x = block(sizeof(double) * 65536), time;
  for (int i = 0; i < 65536; i++)
    x[i] = 0;
  BEST(time) for (int r = 0; r < SMALL; r++) {
#pragma omp parallel for
    for (int i = 0; i < 65536; i++)
      x[i] += 1;
  }
  expect("small64k", x[SMALL_N - 1], (double)SMALL * RUNS, 0);
  tell("small64k", time / SMALL * 1e6, "us", "less");
  free(x);
}

static void daxpy(void) {
  long n = VECTOR;
  double *x = block(sizeof(double) * (size_t)n), *y = block(sizeof(double) * (size_t)n), time;
  for (long i = 0; i < n; i++)
    x[i] = 1, y[i] = 2;
  BEST(time) for (int r = 0; r < 10; r++) {
#pragma omp parallel for
    for (long i = 0; i < n; i++)
      y[i] += 0.5 * x[i];
  }
  expect("daxpy", y[n - 1], 2 + 0.5 * 10 * RUNS, 1e-12);
  tell("daxpy", 10.0 * 24 * (double)n / time / 1e9, "GB/s", "more");
  free(x), free(y);
}

static void stencil(void) {
  int n = GRID;
  long all = (long)n * n;
  double *a = block(sizeof(double) * (size_t)all), *b = block(sizeof(double) * (size_t)all), time;
  for (long i = 0; i < all; i++)
    a[i] = (double)(i % 7), b[i] = 0;
  BEST(time) for (int r = 0; r < 10; r++) {
#pragma omp parallel for collapse(2)
    for (int i = 1; i < n - 1; i++)
      for (int j = 1; j < n - 1; j++)
        b[(long)i * n + j] = 0.2 * (a[(long)i * n + j] + a[(long)i * n + j - 1] + a[(long)i * n + j + 1] +
                                    a[(long)(i - 1) * n + j] + a[(long)(i + 1) * n + j]);
  }
  long k = (long)n + 1;
  expect("stencil", b[k], 0.2 * (a[k] + a[k - 1] + a[k + 1] + a[k - n] + a[k + n]), 1e-12);
  tell("stencil", 10.0 * 16 * (double)all / time / 1e9, "GB/s", "more");
  free(a), free(b);
}

static void dot(void) {
  long n = VECTOR;
  double *x = block(sizeof(double) * (size_t)n), *y = block(sizeof(double) * (size_t)n), time, sum = 0;
  for (long i = 0; i < n; i++)
    x[i] = 0.5, y[i] = 2;
  BEST(time) for (int r = 0; r < 10; r++) {
    sum = 0;
#pragma omp parallel for reduction(+ : sum)
    for (long i = 0; i < n; i++)
      sum += x[i] * y[i];
  }
  expect("dot", sum, (double)n, 1e-9);
  tell("dot", 10.0 * 16 * (double)n / time / 1e9, "GB/s", "more");
  free(x), free(y);
}

static float normal(float d) {
  float k = 1.0f / (1.0f + 0.2316419f * fabsf(d));
  float sum = k * (0.31938153f + k * (-0.356563782f + k * (1.781477937f + k * (-1.821255978f + k * 1.330274429f))));
  float c = 0.39894228f * expf(-0.5f * d * d) * sum;
  return d > 0 ? 1.0f - c : c;
}

static void blackscholes(void) {
  long n = OPTIONS;
  size_t bytes = sizeof(float) * (size_t)n;
  float *s = block(bytes), *k = block(bytes), *t = block(bytes), *c = block(bytes), *p = block(bytes);
  double time;
  for (long i = 0; i < n; i++)
    s[i] = 20 + (float)(i % 80), k[i] = 10 + (float)(i % 90), t[i] = 0.25f + (float)(i % 10);
  BEST(time) for (int r = 0; r < 10; r++) {
#pragma omp parallel for
    for (long i = 0; i < n; i++) {
      float root = sqrtf(t[i]);
      float d1 = (logf(s[i] / k[i]) + (0.02f + 0.5f * 0.3f * 0.3f) * t[i]) / (0.3f * root);
      float d2 = d1 - 0.3f * root;
      float n1 = normal(d1), n2 = normal(d2), e = expf(-0.02f * t[i]);
      c[i] = s[i] * n1 - k[i] * e * n2;
      p[i] = k[i] * e * (1.0f - n2) - s[i] * (1.0f - n1);
    }
  }
  expect("blackscholes", c[0] - p[0], s[0] - k[0] * expf(-0.02f * t[0]), 1e-4);
  tell("blackscholes", 10.0 * (double)n / time / 1e9, "Gopt/s", "more");
  free(s), free(k), free(t), free(c), free(p);
}

static void montecarlo(void) {
  long threads = 1L << 20, each = SAMPLES / threads, hits = 0;
  double time;
  BEST(time) {
    hits = 0;
#pragma omp parallel for reduction(+ : hits)
    for (long i = 0; i < threads; i++) {
      unsigned long seed = (unsigned long)i * 2862933555777941757UL + 3037000493UL;
      long mine = 0;
      for (long j = 0; j < each; j++) {
        seed = seed * 6364136223846793005UL + 1442695040888963407UL;
        float x = (float)(seed >> 40) * 0x1p-24f;
        seed = seed * 6364136223846793005UL + 1442695040888963407UL;
        float y = (float)(seed >> 40) * 0x1p-24f;
        mine += x * x + y * y < 1.0f;
      }
      hits += mine;
    }
  }
  expect("montecarlo", 4.0 * (double)hits / (double)SAMPLES, 3.14159265, 1e-3);
  tell("montecarlo", (double)SAMPLES / time / 1e9, "Gsamples/s", "more");
}

static void nbody(void) {
  int n = BODIES;
  float *x = block(16 * (size_t)n), *f = block(16 * (size_t)n);
  double time;
  for (int i = 0; i < 4 * n; i++)
    x[i] = (float)((i * 7919L) % 1000) * 0.001f, f[i] = 0;
  BEST(time) {
#pragma omp parallel for
    for (int i = 0; i < n; i++) {
      float ax = 0, ay = 0, az = 0, px = x[4 * i], py = x[4 * i + 1], pz = x[4 * i + 2];
      for (int j = 0; j < n; j++) {
        float dx = x[4 * j] - px, dy = x[4 * j + 1] - py, dz = x[4 * j + 2] - pz;
        float r = dx * dx + dy * dy + dz * dz + 0.01f;
        float s = 1.0f / sqrtf(r);
        float w = x[4 * j + 3] * s * s * s;
        ax += dx * w, ay += dy * w, az += dz * w;
      }
      f[4 * i] = ax, f[4 * i + 1] = ay, f[4 * i + 2] = az;
    }
  }
  double a = 0;
  for (int j = 0; j < n; j++) {
    double dx = x[4 * j] - x[0], dy = x[4 * j + 1] - x[1], dz = x[4 * j + 2] - x[2];
    double r = dx * dx + dy * dy + dz * dz + 0.01;
    a += dx * x[4 * j + 3] / (r * sqrt(r));
  }
  expect("nbody", f[0], a, 1e-3);
  tell("nbody", (double)n * n / time / 1e9, "Ginter/s", "more");
  free(x), free(f);
}

static int nearest(const Point *centres, Point p) {
  int best = 0;
  float least = 1e30f;
  for (int c = 0; c < CENTRES; c++) {
    float dx = p.x - centres[c].x, dy = p.y - centres[c].y, d = dx * dx + dy * dy;
    if (d < least)
      least = d, best = c;
  }
  return best;
}

static void kmeans(void) {
  long n = POINTS;
  Point *points = block(sizeof(Point) * (size_t)n);
  double time;
  for (long i = 0; i < n; i++)
    points[i] = point(i);
  Point centres[CENTRES], before[CENTRES];
  double last[CENTRES * 3];
  BEST(time) {
    for (int c = 0; c < CENTRES; c++)
      centres[c] = first_centre(c);
    for (int r = 0; r < 10; r++) {
      double sums[CENTRES * 3] = {0};
#pragma omp parallel for reduction(+ : sums)
      for (long i = 0; i < n; i++) {
        Point p = points[i];
        int best = nearest(centres, p);
        sums[3 * best] += p.x;
        sums[3 * best + 1] += p.y;
        sums[3 * best + 2] += 1;
      }
      memcpy(before, centres, sizeof before), memcpy(last, sums, sizeof last);
      new_centres(centres, sums);
    }
  }
  /* The last round once more, here. */
  double sums[CENTRES * 3] = {0};
  for (long i = 0; i < n; i++) {
    int best = nearest(before, points[i]);
    sums[3 * best] += points[i].x, sums[3 * best + 1] += points[i].y, sums[3 * best + 2] += 1;
  }
  for (int i = 0; i < CENTRES * 3; i++)
    expect("kmeans", last[i], sums[i], 1e-9);
  tell("kmeans", 10.0 * (double)n / time / 1e9, "Gpoints/s", "more");
  free(points);
}

static void structs(void) {
  long n = BODIES_OF_MASS;
  Body *bodies = block(sizeof(Body) * (size_t)n);
  double time, sum = 0;
  for (long i = 0; i < n; i++)
    bodies[i] = body(i);
  BEST(time) for (int r = 0; r < 10; r++) {
    sum = 0;
#pragma omp parallel for reduction(+ : sum)
    for (long i = 0; i < n; i++) {
      const Body *b = &bodies[i];
      sum += b->mass * (b->v[0] * b->v[0] + b->v[1] * b->v[1] + b->v[2] * b->v[2]);
    }
  }
  expect("structs", sum, 0.75 * (double)n, 1e-9);
  tell("structs", 10.0 * sizeof(Body) * (double)n / time / 1e9, "GB/s", "more");
  free(bodies);
}

int main(int argc, char **argv) {
  static const struct {
    const char *name;
    void (*run)(void);
  } cases[] = {
      {"small64k", small},
      {"daxpy", daxpy},
      {"stencil", stencil},
      {"dot", dot},
      {"blackscholes", blackscholes},
      {"montecarlo", montecarlo},
      {"nbody", nbody},
      {"kmeans", kmeans},
      {"structs", structs},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
    if (wanted(argc, argv, cases[i].name))
      cases[i].run();
  return 0;
}
