// OpenMP 5.2, section 10.1: an exception thrown and caught by the same thread within a region.
// stdout: ok
// levels: O0 O2
#include "../../check.h"
#include <stdexcept>
#include <string>
__attribute__((noinline)) static void risky(int i) {
  if (i % 3 == 0) throw std::runtime_error(std::to_string(i));
  if (i % 3 == 1) throw i;
}
int main() {
  int strings = 0, ints = 0, none = 0;
#pragma omp parallel for num_threads(4) reduction(+ : strings, ints, none) schedule(dynamic)
  for (int i = 0; i < 300; i++) {
    try {
      risky(i);
      none++;
    } catch (const std::exception &e) {
      CHECK(std::stoi(e.what()) == i);
      strings++;
    } catch (int got) {
      CHECK(got == i);
      ints++;
    }
  }
  CHECK(strings == 100 && ints == 100 && none == 100);
  return DONE();
}
