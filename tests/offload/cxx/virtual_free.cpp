// Objects with member functions made and used within a region; new and delete there.
#include "../../check.h"
struct Counter {
  int n;
  explicit Counter(int start) : n(start) {}
  int next() { return n++; }
};
int main() {
  int r = 0;
#pragma omp target map(from : r)
  {
    Counter c(5);
    Counter *d = new Counter(10);
    c.next();
    d->next();
    r = c.next() + d->next();
    delete d;
  }
  CHECK(r == 6 + 11);
  return DONE();
}
