// OpenMP 5.2, section 4.4.1: a range-based for as a worksharing loop, over a vector and an array.
// stdout: ok
// levels: O0 O2
// flags: -fopenmp-version=50
#include "../../check.h"
#include <vector>
int main() {
  std::vector<int> v(500);
  int array[77] = {0}, sum = 0;
  for (int i = 0; i < 500; i++) v[i] = i;
#pragma omp parallel for num_threads(3) schedule(dynamic, 11)
  for (int &x : v) x *= 3;
#pragma omp parallel for num_threads(4) reduction(+ : sum)
  for (int x : v) sum += x;
#pragma omp parallel for num_threads(2)
  for (auto &x : array) x++;
  CHECK(sum == 3 * 499 * 250);
  for (int x : array) CHECK(x == 1);
  return DONE();
}
