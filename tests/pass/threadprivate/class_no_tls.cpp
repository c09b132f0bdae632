// OpenMP 5.2, section 5.2: a threadprivate object whose constructor the runtime calls for each thread.
// stdout: ok
// levels: O0 O2
// flags: -fnoopenmp-use-tls
#include "../../check.h"
static int made;
struct Box {
  int value;
  Box() : value(5) { __atomic_fetch_add(&made, 1, __ATOMIC_SEQ_CST); }
  ~Box() { value = 0; }
};
static Box box;
#pragma omp threadprivate(box)
int main() {
  for (int round = 0; round < 3; round++) {
#pragma omp parallel num_threads(3)
    {
      CHECK(box.value == 5 + round);
      box.value++;
    }
  }
  CHECK(made >= 3 && box.value == 8);
  return DONE();
}
