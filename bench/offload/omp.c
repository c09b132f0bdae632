/* The measurements of offload, as OpenMP's `target`. */
#include "common.h"

static double *vector(long n) { return malloc(sizeof(double) * (size_t)n); }

static int wanted(int argc, char **argv, const char *name) {
  if (argc < 2)
    return 1;
  for (int i = 1; i < argc; i++)
    if (!strcmp(argv[i], name))
      return 1;
  return 0;
}

static void empty(void) {
  int present[4] = {0};
  double time;
#pragma omp target data map(tofrom : present)
  {
    BEST(time) for (int i = 0; i < EMPTY; i++) {
#pragma omp target
      { present[0] = 1; }
    }
  }
  tell("empty", time / EMPTY * 1e6, "us", "less");
}

static void small(void) {
  double x[SMALL_N], time;
  for (int i = 0; i < SMALL_N; i++)
    x[i] = 0;
#pragma omp target data map(tofrom : x)
  {
    BEST(time) for (int r = 0; r < SMALL; r++) {
#pragma omp target teams distribute parallel for
      for (int i = 0; i < SMALL_N; i++)
        x[i] += 1;
    }
  }
  expect("small", x[SMALL_N - 1], (double)SMALL * RUNS, 0);
  tell("small1000", time * 1e6, "us", "less");
}

static void mapped(void) {
  int pair[4] = {1, 2, 3, 4};
  double time;
  BEST(time) for (int i = 0; i < EMPTY; i++) {
#pragma omp target map(tofrom : pair)
    { pair[0] += 1; }
  }
  expect("map16", pair[0], 1 + EMPTY * RUNS, 0);
  tell("map16", time / EMPTY * 1e6, "us", "less");
}

static void daxpy(void) {
  long n = VECTOR;
  double *x = vector(n), *y = vector(n), time;
  for (long i = 0; i < n; i++)
    x[i] = 1, y[i] = 2;
#pragma omp target data map(to : x[:n]) map(tofrom : y[:n])
  {
    BEST(time) for (int r = 0; r < 10; r++) {
#pragma omp target teams distribute parallel for
      for (long i = 0; i < n; i++)
        y[i] += 0.5 * x[i];
    }
  }
  expect("daxpy", y[n - 1], 2 + 0.5 * 10 * RUNS, 1e-12);
  tell("daxpy", 10.0 * 24 * (double)n / time / 1e9, "GB/s", "more");
  free(x), free(y);
}

static void stencil(void) {
  int n = GRID;
  long all = (long)n * n;
  double *a = vector(all), *b = vector(all), time;
  for (long i = 0; i < all; i++)
    a[i] = (double)(i % 7), b[i] = 0;
#pragma omp target data map(to : a[:all]) map(tofrom : b[:all])
  {
    BEST(time) for (int r = 0; r < 10; r++) {
#pragma omp target teams distribute parallel for collapse(2)
      for (int i = 1; i < n - 1; i++)
        for (int j = 1; j < n - 1; j++)
          b[(long)i * n + j] = 0.2 * (a[(long)i * n + j] + a[(long)i * n + j - 1] + a[(long)i * n + j + 1] +
                                      a[(long)(i - 1) * n + j] + a[(long)(i + 1) * n + j]);
    }
  }
  long k = (long)n + 1;
  expect("stencil", b[k], 0.2 * (a[k] + a[k - 1] + a[k + 1] + a[k - n] + a[k + n]), 1e-12);
  tell("stencil", 10.0 * 16 * (double)all / time / 1e9, "GB/s", "more");
  free(a), free(b);
}

static void dot(void) {
  long n = VECTOR;
  double *x = vector(n), *y = vector(n), time, sum = 0;
  for (long i = 0; i < n; i++)
    x[i] = 0.5, y[i] = 2;
#pragma omp target data map(to : x[:n], y[:n])
  {
    BEST(time) for (int r = 0; r < 10; r++) {
      sum = 0;
#pragma omp target teams distribute parallel for reduction(+ : sum)
      for (long i = 0; i < n; i++)
        sum += x[i] * y[i];
    }
  }
  expect("dot", sum, (double)n, 1e-9);
  tell("dot", 10.0 * 16 * (double)n / time / 1e9, "GB/s", "more");
  free(x), free(y);
}

static void smallsum(void) {
  double x[1024], time, sum = 0;
  for (int i = 0; i < 1024; i++)
    x[i] = 1;
#pragma omp target data map(to : x)
  {
    BEST(time) for (int r = 0; r < SMALL; r++) {
      sum = 0;
#pragma omp target teams distribute parallel for reduction(+ : sum)
      for (int i = 0; i < 1024; i++)
        sum += x[i];
    }
  }
  expect("smallsum", sum, 1024, 0);
  tell("smallsum", time / SMALL * 1e6, "us", "less");
}

static void map(void) {
  long n = VECTOR;
  double *x = vector(n), time;
  for (long i = 0; i < n; i++)
    x[i] = 0.3;
#pragma omp target data map(tofrom : x[:n])
  {
    BEST(time) for (int r = 0; r < 10; r++) {
#pragma omp target teams distribute parallel for
      for (long i = 0; i < n; i++)
        x[i] = exp(x[i]) * sqrt(x[i]) * 0.25;
    }
  }
  double v = 0.3;
  for (int r = 0; r < 10 * RUNS; r++)
    v = exp(v) * sqrt(v) * 0.25;
  expect("map", x[n - 1], v, 1e-9);
  tell("map", 10.0 * (double)n / time / 1e9, "Gelem/s", "more");
  free(x);
}

#pragma omp declare target
static float normal(float d) {
  float k = 1.0f / (1.0f + 0.2316419f * fabsf(d));
  float sum = k * (0.31938153f + k * (-0.356563782f + k * (1.781477937f + k * (-1.821255978f + k * 1.330274429f))));
  float c = 0.39894228f * expf(-0.5f * d * d) * sum;
  return d > 0 ? 1.0f - c : c;
}
#pragma omp end declare target

static void blackscholes(void) {
  long n = OPTIONS;
  float *s = malloc(sizeof(float) * (size_t)n), *k = malloc(sizeof(float) * (size_t)n);
  float *t = malloc(sizeof(float) * (size_t)n), *c = malloc(sizeof(float) * (size_t)n);
  float *p = malloc(sizeof(float) * (size_t)n);
  double time;
  for (long i = 0; i < n; i++)
    s[i] = 20 + (float)(i % 80), k[i] = 10 + (float)(i % 90), t[i] = 0.25f + (float)(i % 10);
#pragma omp target data map(to : s[:n], k[:n], t[:n]) map(from : c[:n], p[:n])
  {
    BEST(time) for (int r = 0; r < 10; r++) {
#pragma omp target teams distribute parallel for
      for (long i = 0; i < n; i++) {
        float root = sqrtf(t[i]);
        float d1 = (logf(s[i] / k[i]) + (0.02f + 0.5f * 0.3f * 0.3f) * t[i]) / (0.3f * root);
        float d2 = d1 - 0.3f * root;
        float n1 = normal(d1), n2 = normal(d2), e = expf(-0.02f * t[i]);
        c[i] = s[i] * n1 - k[i] * e * n2;
        p[i] = k[i] * e * (1.0f - n2) - s[i] * (1.0f - n1);
      }
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
#pragma omp target teams distribute parallel for reduction(+ : hits)
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
  float *x = malloc(16 * (size_t)n), *f = malloc(16 * (size_t)n);
  double time;
  for (int i = 0; i < 4 * n; i++)
    x[i] = (float)((i * 7919L) % 1000) * 0.001f, f[i] = 0;
#pragma omp target data map(to : x[:4 * n]) map(from : f[:4 * n])
  {
    BEST(time) {
#pragma omp target teams distribute parallel for
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

static void matmul(void) {
  int n = MATRIX;
  long all = (long)n * n;
  float *a = malloc(sizeof(float) * (size_t)all), *b = malloc(sizeof(float) * (size_t)all);
  float *c = malloc(sizeof(float) * (size_t)all);
  double time;
  for (long i = 0; i < all; i++)
    a[i] = (float)(i % 3), b[i] = (float)(i % 5), c[i] = 0;
#pragma omp target data map(to : a[:all], b[:all]) map(from : c[:all])
  {
    BEST(time) {
#pragma omp target teams distribute parallel for collapse(2)
      for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
          float sum = 0;
          for (int k = 0; k < n; k++)
            sum += a[(long)i * n + k] * b[(long)k * n + j];
          c[(long)i * n + j] = sum;
        }
    }
  }
  double wanted_sum = 0;
  for (int k = 0; k < n; k++)
    wanted_sum += (double)a[k] * b[(long)k * n];
  expect("matmul", c[0], wanted_sum, 1e-6);
  tell("matmul", 2.0 * n * (double)all / time / 1e9, "GFLOP/s", "more");
  free(a), free(b), free(c);
}

static void transfers(void) {
  long n = 128L << 20;
  double *x = vector(n), time;
  for (long i = 0; i < n; i++)
    x[i] = (double)i;
#pragma omp target enter data map(alloc : x[:n])
  BEST(time) {
#pragma omp target update to(x[:n])
  }
  tell("to_device", 8.0 * (double)n / time / 1e9, "GB/s", "more");
  memset(x, 0, sizeof(double) * (size_t)n);
  BEST(time) {
#pragma omp target update from(x[:n])
  }
  expect("from_device", x[n - 1], (double)(n - 1), 0);
  tell("from_device", 8.0 * (double)n / time / 1e9, "GB/s", "more");
  BEST(time) for (int i = 0; i < EMPTY; i++) {
#pragma omp target update to(x[:1])
  }
  tell("to_8_bytes", time / EMPTY * 1e6, "us", "less");
  BEST(time) for (int i = 0; i < EMPTY; i++) {
#pragma omp target update from(x[:1])
  }
  tell("from_8_bytes", time / EMPTY * 1e6, "us", "less");
#pragma omp target exit data map(delete : x[:n])
  free(x);
}

int main(int argc, char **argv) {
  double start = now();
  int there = 0;
#pragma omp target map(from : there)
  { there = 1; }
  tell("start", (now() - start) * 1e3, "ms", "less");
  static const struct {
    const char *name;
    void (*run)(void);
  } cases[] = {
      {"empty", empty},     {"small", small}, {"map16", mapped},
      {"smallsum", smallsum}, {"daxpy", daxpy}, {"stencil", stencil},
      {"dot", dot},         {"map", map},     {"blackscholes", blackscholes},
      {"montecarlo", montecarlo}, {"nbody", nbody}, {"matmul", matmul},
      {"transfers", transfers},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
    if (wanted(argc, argv, cases[i].name))
      cases[i].run();
  return 0;
}
