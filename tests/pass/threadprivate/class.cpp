// OpenMP 5.2, section 5.2: a threadprivate object with constructor and copyin by its assignment operator.
// stdout: ok
// levels: O0 O2
#include "../../check.h"
static int made, assigned;
struct Box {
  int value;
  explicit Box(int v) : value(v) { __atomic_fetch_add(&made, 1, __ATOMIC_SEQ_CST); }
  Box &operator=(const Box &o) { value = o.value; __atomic_fetch_add(&assigned, 1, __ATOMIC_SEQ_CST); return *this; }
};
static Box box(5);
#pragma omp threadprivate(box)
int main() {
#pragma omp parallel num_threads(3)
  {
    CHECK(box.value == 5);
    box.value = 10 + omp_get_thread_num();
  }
  CHECK(made == 3 && box.value == 10);
#pragma omp parallel num_threads(3) copyin(box)
  CHECK(box.value == 10);
  CHECK(assigned == 2 && made == 3);
  return DONE();
}
