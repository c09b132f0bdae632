// Collapsed loops whose iterations a device may reorder: each runs once, with its own indices, for even and odd
// sizes, with neighbors, consecutive addresses in the outer index, sums, and iterations of different length.
#include "../../check.h"
#include <vector>

template <typename Body> static int same(const std::vector<float> &got, Body want) {
  int wrong = 0;
  for (size_t at = 0; at < got.size(); at++)
    wrong += got[at] != want((long)at);
  return wrong == 0;
}

static void rows(int n, int m) {
  long size = (long)n * m;
  std::vector<float> a(size + 2 * m + 2), b(size);
  for (size_t at = 0; at < a.size(); at++)
    a[at] = at % 7;
  float *from = a.data(), *to = b.data();
  double sum = 0;
#pragma omp target teams distribute parallel for collapse(2) map(to : from[ : size + 2 * m + 2]) map(tofrom : to[ : size])
  for (int i = 0; i < n; i++)
    for (int j = 0; j < m; j++)
      to[(long)i * m + j] += from[(long)i * m + j] + from[(long)i * m + j + 1] + from[(long)(i + 1) * m + j] + i;
  auto want = [&](long at) { return a[at] + a[at + 1] + a[at + m] + at / m; };
  CHECK(same(b, want));
#pragma omp target teams distribute parallel for collapse(2) reduction(+ : sum) map(to : from[ : size + 2 * m + 2])
  for (int i = 0; i < n; i++)
    for (int j = 0; j < m; j++)
      sum += from[(long)i * m + j] + from[(long)i * m + j + 1] + from[(long)(i + 1) * m + j] + i;
  double all = 0;
  for (long at = 0; at < size; at++)
    all += want(at);
  CHECK(sum == all);
}

static void columns(int n, int m) {
  long size = (long)n * m;
  std::vector<float> b(size);
  float *to = b.data();
#pragma omp target teams distribute parallel for collapse(2) map(tofrom : to[ : size])
  for (int i = 0; i < n; i++)
    for (int j = 0; j < m; j++)
      to[(long)j * n + i] += 2 * i + 3 * j + 1;
  CHECK(same(b, [&](long at) { return 2 * (at % n) + 3 * (at / n) + 1; }));
}

static void planes(int l, int n, int m) {
  long size = (long)l * n * m, plane = (long)n * m;
  std::vector<float> a(size + 2 * plane), b(size);
  for (size_t at = 0; at < a.size(); at++)
    a[at] = at % 5;
  float *from = a.data(), *to = b.data();
#pragma omp target teams distribute parallel for collapse(3) map(to : from[ : size + 2 * plane]) map(tofrom : to[ : size])
  for (int k = 0; k < l; k++)
    for (int i = 0; i < n; i++)
      for (int j = 0; j < m; j++) {
        long at = (long)k * n * m + (long)i * m + j;
        to[at] += from[at] + from[at + m] + from[at + (long)n * m] + k - i + j;
      }
  CHECK(same(b, [&](long at) {
    return a[at] + a[at + m] + a[at + plane] + at / plane - at / m % n + at % m;
  }));
}

static void until(int n, int m) {
  long size = (long)n * m;
  std::vector<float> b(size);
  float *to = b.data();
#pragma omp target teams distribute parallel for collapse(2) map(tofrom : to[ : size])
  for (int i = 0; i < n; i++)
    for (int j = 0; j < m; j++) {
      float x = 1;
      int rounds = 0;
      while (x < i * j && rounds < 40) {
        x *= 2;
        rounds++;
      }
      to[(long)i * m + j] += rounds;
    }
  CHECK(same(b, [&](long at) {
    float x = 1;
    int rounds = 0;
    for (long end = at / m * (at % m); x < end && rounds < 40; rounds++)
      x *= 2;
    return rounds;
  }));
}

int main() {
  static const int sizes[][2] = {{1, 1}, {3, 100}, {100, 3}, {64, 64}, {65, 130}, {130, 65}, {31, 33}};
  for (auto &size : sizes) {
    rows(size[0], size[1]);
    columns(size[0], size[1]);
    until(size[0], size[1]);
    for (int l : {1, 7, 9})
      planes(l, size[0], size[1]);
  }
  return DONE();
}
