// OpenMP 5.2, section 5.3: references as private, firstprivate and reduction variables; lambdas and structured bindings in regions.
// stdout: ok
// levels: O0 O2
#include "../../check.h"
#include <utility>
static void work(int &sum, int &own, const std::pair<int, double> &p) {
  const auto &[whole, part] = p;
  const int base = whole; const double half = part;
  auto twice = [&](int x) { return 2 * x + base; };
#pragma omp parallel for num_threads(3) reduction(+ : sum) firstprivate(own)
  for (int i = 0; i < 10; i++) {
    own += i;
    sum += twice(i) + (half == 0.5);
  }
}
int main() {
  int sum = 0, own = 9;
  work(sum, own, {1, 0.5});
  CHECK(sum == 90 + 10 + 10 && own == 9);
  return DONE();
}
