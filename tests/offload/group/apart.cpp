// Devices without common memory: templates, objects without pointers, and members of classes.
// options: --device=emulated:3 --devices=all
// env: OMP_TARGET_OFFLOAD=mandatory
// env: OMPVM_EMULATED_LINKS=off
#include "../../check.h"
#include <vector>
struct Body {
  float x[3], v[3], mass;
};
template <typename T, int D> struct Field {
  T *values;
  int n;
  T get(int i) const { return values[(i % n + n) % n] * D; }
};
template <typename T> static T total(const T *values, int n) {
  T sum = 0;
#pragma omp target teams distribute parallel for map(to : values[ : n]) reduction(+ : sum)
  for (int i = 0; i < n; i++)
    sum += values[i];
  return sum;
}
static void step(std::vector<Body> &bodies, bool device) {
  int n = bodies.size();
  Body *b = bodies.data();
#pragma omp target data map(tofrom : b[ : n]) if (device)
  {
#pragma omp target teams distribute parallel for if (device)
    for (int i = 0; i < n; i++) {
      float a[3] = {};
      for (int j = 0; j < n; j++)
        for (int k = 0; k < 3; k++)
          a[k] += (b[j].x[k] - b[i].x[k]) * b[j].mass;
      for (int k = 0; k < 3; k++)
        b[i].v[k] = a[k] / 1024;
    }
#pragma omp target teams distribute parallel for collapse(2) if (device)
    for (int i = 0; i < n; i++)
      for (int k = 0; k < 3; k++)
        b[i].x[k] += b[i].v[k];
  }
}
int main() {
  const int n = 300;
  std::vector<Body> one(n), two;
  for (int i = 0; i < n; i++)
    for (int k = 0; k < 3; k++)
      one[i].x[k] = (i * (k + 3)) % 64, one[i].v[k] = 0, one[i].mass = 1 + i % 2;
  two = one;
  for (int t = 0; t < 2; t++)
    step(one, true), step(two, false);
  int wrong = 0;
  for (int i = 0; i < n; i++)
    for (int k = 0; k < 3; k++)
      wrong += one[i].x[k] - two[i].x[k] > 1e-3f || two[i].x[k] - one[i].x[k] > 1e-3f;
  CHECK(wrong == 0);
  std::vector<long> numbers(5000);
  for (int i = 0; i < 5000; i++)
    numbers[i] = i % 77;
  CHECK(total(numbers.data(), 5000) == [&] {
    long sum = 0;
    for (long x : numbers)
      sum += x;
    return sum;
  }());
  // An object with a pointer is in memory, so one device runs the region.
  int data[100], out[100];
  for (int i = 0; i < 100; i++)
    data[i] = i;
  Field<int, 3> field{data, 100};
#pragma omp target teams distribute parallel for map(to : field, field.values[ : 100]) map(from : out)
  for (int i = 0; i < 100; i++)
    out[i] = field.get(i + 1);
  wrong = 0;
  for (int i = 0; i < 100; i++)
    wrong += out[i] != (i + 1) % 100 * 3;
  CHECK(wrong == 0);
  return DONE();
}
