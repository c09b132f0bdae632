// OpenMP 5.2, section 5.4.4: firstprivate objects are copy-constructed once per thread and destroyed.
// stdout: ok
// levels: O0 O2
#include "../../check.h"
#include <string>
static int copies, gone;
struct Thing {
  std::string text;
  explicit Thing(const char *t) : text(t) {}
  Thing(const Thing &o) : text(o.text + "'") { __atomic_fetch_add(&copies, 1, __ATOMIC_SEQ_CST); }
  ~Thing() { __atomic_fetch_add(&gone, 1, __ATOMIC_SEQ_CST); }
};
int main() {
  Thing thing("a string that is too long for the small buffer");
#pragma omp parallel num_threads(4) firstprivate(thing)
  {
    CHECK(thing.text == "a string that is too long for the small buffer'");
    thing.text += omp_get_thread_num();
  }
  CHECK(copies == 4 && gone == 4 && thing.text.back() == 'r');
  return DONE();
}
