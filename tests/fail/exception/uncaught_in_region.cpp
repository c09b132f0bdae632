// An exception may not leave a parallel region: terminate, even with a handler outside.
// levels: O0 O2
// signal: 6
// stderr-has: terminate
#include <omp.h>
#include <stdexcept>
int main() {
  try {
#pragma omp parallel num_threads(2)
    if (omp_get_thread_num() == 0) throw std::runtime_error("leaves the region");
  } catch (...) {
    return 1;
  }
  return 0;
}
