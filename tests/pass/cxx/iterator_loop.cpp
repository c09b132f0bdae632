// OpenMP 5.2, section 4.4.1: random-access iterators as loop variables of worksharing loops.
// stdout: ok
// levels: O0 O2
#include "../../check.h"
#include <deque>
#include <vector>
int main() {
  std::vector<int> v(300, 1);
  std::deque<long> d(200, 2);
  long sum = 0;
#pragma omp parallel num_threads(4)
  {
#pragma omp for schedule(dynamic, 7)
    for (std::vector<int>::iterator it = v.begin(); it < v.end(); ++it) *it += it - v.begin();
#pragma omp for reduction(+ : sum)
    for (auto it = d.begin(); it != d.end(); it += 1) sum += *it;
#pragma omp for schedule(static, 3)
    for (auto it = v.end() - 1; it >= v.begin(); it -= 2) *it *= 2;
  }
  for (int i = 0; i < 300; i++) CHECK(v[i] == (i + 1) * (i % 2 ? 2 : 1));
  CHECK(sum == 400);
  return DONE();
}
