// Values that one thread computes for all reach the loops behind it.
// flags: -g
#include "../check.h"
enum { N = 700 };
static double a[N], b[N], want[N];
static int calls;

static void reset(void) {
  calls = 0;
  for (int i = 0; i < N; i++) a[i] = i, b[i] = 2 * i, want[i] = 0;
}

static int same(const double *x) {
  for (int i = 0; i < N; i++)
    if (x[i] != want[i]) return 0;
  return 1;
}

// Numbers of several types, in a sequential loop.
static void numbers(double scale, int rounds) {
#pragma omp parallel
  {
    double factor = 1;
    float part = 2;
    long shift = 3;
    unsigned char small = 4;
    for (int r = 0; r < rounds; r++) {
#pragma omp single copyprivate(factor, part, shift, small)
      {
        calls++;
        factor = scale * calls;
        part += 0.5f;
        shift = calls - 7;
        small = (unsigned char)(250 + 3 * calls);
      }
#pragma omp for
      for (int i = 0; i < N; i++) a[i] = a[i] * 0.5 + factor + part * shift + small + i;
    }
  }
}

// The array that a loop reads, and the one that it writes.
static void arrays(int rounds) {
#pragma omp parallel
  {
    double *from = a, *to = a;
    for (int r = 0; r < rounds; r++) {
#pragma omp single copyprivate(from, to)
      {
        int odd = calls++ % 2;
        from = odd ? b : a;
        to = odd ? a : b;
      }
#pragma omp for
      for (int i = 0; i < N; i++) to[i] = from[i] * 0.75 + r;
    }
  }
}

// The bounds of a loop.
static void bounds(int n) {
#pragma omp parallel
  {
    int first = 0, last = N;
#pragma omp single copyprivate(first, last)
    {
      calls++;
      first = n / 3;
      last = n - calls;
    }
#pragma omp for
    for (int i = first; i < last; i++) a[i] += 100;
  }
}

// A private structure.
static void several(double start) {
#pragma omp parallel
  {
    struct {
      double start;
      int step;
      float end;
    } c = {1, 1, 1};
#pragma omp single copyprivate(c)
    {
      calls++;
      c.start = start;
      c.step = calls + 2;
      c.end = (float)start * 2;
    }
#pragma omp for
    for (int i = 0; i < N; i++) a[i] = c.start + c.step * i + c.end * c.end;
  }
}

// Two loops behind one construct, one with a reduction.
static double both(int n) {
  double sum = 0;
#pragma omp parallel
  {
    double factor = 0;
    int count = 1;
#pragma omp single copyprivate(factor, count)
    {
      calls++;
      factor = 1.0 / (calls + 1);
      count = n - 3;
    }
#pragma omp for
    for (int i = 0; i < count; i++) b[i] = a[i] * factor;
#pragma omp for reduction(+ : sum)
    for (int i = 0; i < N; i++) sum += i < count ? b[i] / factor : 1;
  }
  return sum;
}

int main(void) {
  reset();
  numbers(1.5, 4);
  for (int i = 0; i < N; i++) {
    double v = i;
    float part = 2;
    for (int r = 1; r <= 4; r++) {
      part += 0.5f;
      v = v * 0.5 + 1.5 * r + part * (r - 7) + (unsigned char)(250 + 3 * r) + i;
    }
    want[i] = v;
  }
  CHECK(same(a) && calls == 4);

  reset();
  arrays(3);
  for (int i = 0; i < N; i++) {
    double v = i;
    for (int r = 0; r < 3; r++) v = v * 0.75 + r;
    want[i] = v;
  }
  CHECK(same(b) && calls == 3);

  reset();
  bounds(N);
  for (int i = 0; i < N; i++) want[i] = i + (i >= N / 3 && i < N - 1 ? 100 : 0);
  CHECK(same(a));

  reset();
  several(2.5);
  for (int i = 0; i < N; i++) want[i] = 2.5 + 3 * i + 5 * 5;
  CHECK(same(a));

  reset();
  double sum = both(N);
  CHECK(sum == (N - 3) * (N - 4) / 2 + 3);
  return DONE();
}
