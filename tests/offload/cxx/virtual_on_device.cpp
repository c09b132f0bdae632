// Virtual functions of objects made within a region.
#include "../../check.h"
#pragma omp begin declare target
struct Shape {
  virtual int area() const { return 0; }
};
struct Square : Shape {
  int a;
  explicit Square(int x) : a(x) {}
  int area() const override { return a * a; }
};
static int measure(const Shape *s) { return s->area(); }
#pragma omp end declare target
int main(int argc, char **) {
  int r = 0;
#pragma omp target map(from : r)
  {
    Square s(argc + 2);
    Shape t;
    r = measure(&s) + measure(&t);
  }
  CHECK(r == 9);
  return DONE();
}
