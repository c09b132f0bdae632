// OpenMP 5.2, section 12.5: exceptions are caught inside the task that throws them, on any thread, and below other tasks.
// levels: O0 O2
// stdout: ok
#include "../../check.h"
#include <atomic>
#include <stdexcept>
#include <string>
static std::atomic<int> caught, unwound;
struct Guard {
  ~Guard() { unwound++; }
};
static int deep(int n) {
  Guard guard;
  if (n == 0) throw std::runtime_error("deep");
  return deep(n - 1) + 1;
}
static void work(int depth) {
  try {
    if (depth > 0) {
#pragma omp task
      work(depth - 1);
#pragma omp task
      work(depth - 1);
#pragma omp taskwait
    }
    deep(5);
  } catch (const std::runtime_error &e) {
    if (std::string(e.what()) == "deep") caught++;
  }
}
int main() {
#pragma omp parallel
#pragma omp single
  work(6);
  CHECK(caught == 127 && unwound == 127 * 6);
  return DONE();
}
