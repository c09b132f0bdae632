// OpenMP 5.2, section 4.4: loops over iterators and pointers, and range-based ones, in regions.
// flags: -fopenmp-version=51
#include <array>
#include "../../check.h"
int main() {
  std::array<int, 40> v{};
  int *first = v.data(), sum = 0;
#pragma omp target teams distribute parallel for map(tofrom : first[0 : 40])
  for (int *p = first; p < first + 40; ++p) *p = (int)(p - first);
#pragma omp target parallel for map(tofrom : v) reduction(+ : sum)
  for (int &x : v) {
    sum += x;
    x = -x;
  }
  CHECK(sum == 780 && v[39] == -39);
#pragma omp target parallel for map(to : v) reduction(- : sum)
  for (auto it = v.begin(); it != v.end(); it += 2) sum -= *it;
  CHECK(sum == 780 + 380);
  return DONE();
}
