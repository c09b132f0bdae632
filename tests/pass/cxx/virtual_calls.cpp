// Virtual calls, dynamic_cast and typeid on shared objects from all threads.
// stdout: ok
// levels: O0 O2
#include "../../check.h"
#include <memory>
#include <typeinfo>
#include <vector>
struct Shape { virtual ~Shape() = default; virtual double area() const = 0; };
struct Square : Shape { double s; explicit Square(double x) : s(x) {} double area() const override { return s * s; } };
struct Strip : Square { using Square::Square; double area() const override { return s; } };
int main() {
  std::vector<std::unique_ptr<Shape>> shapes;
  for (int i = 0; i < 100; i++) shapes.push_back(i % 2 ? std::unique_ptr<Shape>(new Square(i)) : std::unique_ptr<Shape>(new Strip(i)));
  double sum = 0; int strips = 0;
#pragma omp parallel for num_threads(4) reduction(+ : sum, strips)
  for (int i = 0; i < 100; i++) {
    sum += shapes[i]->area();
    strips += dynamic_cast<Strip *>(shapes[i].get()) != nullptr;
    const Shape &it = *shapes[i];
    CHECK((typeid(it) == typeid(Square)) == (i % 2 == 1));
  }
  CHECK(sum == 166650 + 2450 && strips == 50);
  return DONE();
}
