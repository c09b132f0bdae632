// OpenMP 5.2, section 5.1.1: members as list items in a member function: reduction, private, firstprivate, lastprivate.
// stdout: ok
// levels: O0 O2
#include "../../check.h"
struct Counter {
  int total = 0, scratch = 5, last = -1, start = 100;
  void count(int n) {
#pragma omp parallel for num_threads(4) reduction(+ : total) private(scratch) lastprivate(last) firstprivate(start)
    for (int i = 0; i < n; i++) {
      scratch = i;
      total += scratch + (start == 100);
      last = i;
    }
  }
};
int main() {
  Counter c;
  c.count(100);
  CHECK(c.total == 5050 && c.scratch == 5 && c.last == 99 && c.start == 100);
  return DONE();
}
