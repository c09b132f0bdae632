// An exception carried from a worker to the encountering thread by std::exception_ptr.
// stdout: ok
// levels: O0 O2
#include "../../check.h"
#include <exception>
#include <stdexcept>
int main() {
  std::exception_ptr first;
#pragma omp parallel num_threads(4)
  {
    try {
      if (omp_get_thread_num() == 2) throw std::out_of_range("from two");
    } catch (...) {
#pragma omp critical
      first = std::current_exception();
    }
  }
  bool ok = false;
  try { if (first) std::rethrow_exception(first); } catch (const std::out_of_range &e) { ok = !strcmp(e.what(), "from two"); }
  CHECK(ok);
  return DONE();
}
