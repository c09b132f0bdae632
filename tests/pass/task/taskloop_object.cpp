// OpenMP 5.2, section 12.6: each task of a taskloop has copies of firstprivate objects; all are destroyed, and the last one's lastprivate is kept.
// stdout: ok
#include "../../check.h"
#include <atomic>
#include <vector>
static std::atomic<int> alive, made;
struct Counted {
  std::vector<int> values;
  Counted() { alive++; }
  Counted(const Counted &o) : values(o.values) { alive++, made++; }
  Counted &operator=(const Counted &) = default;
  ~Counted() { alive--; }
};
int main() {
  {
    Counted c, last;
    c.values.assign(100, 3);
    std::atomic<long> sum{0};
#pragma omp parallel
#pragma omp single
#pragma omp taskloop firstprivate(c) lastprivate(last) grainsize(5) shared(sum)
    for (int i = 0; i < 100; i++) {
      sum += c.values[i];
      c.values[i] = 0;
      last.values.assign(1, i);
    }
    CHECK(sum == 300 && last.values.size() == 1 && last.values[0] == 99);
    CHECK(alive == 2 && made >= 20);
  }
  CHECK(alive == 0);
  return DONE();
}
