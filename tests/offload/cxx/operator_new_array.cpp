// Objects that a region makes with new stay on the device between regions; their virtual functions are the device's.
#include "../../check.h"
#pragma omp begin declare target
struct Shape {
  virtual double area() const = 0;
  virtual ~Shape() {}
};
struct Square : Shape {
  double a;
  Square(double a) : a(a) {}
  double area() const override { return a * a; }
};
struct Box : Square {
  double b;
  Box(double a, double b) : Square(a), b(b) {}
  double area() const override { return a * b; }
};
#pragma omp end declare target
int main() {
  Shape **shapes = nullptr;
  double sum = 0;
#pragma omp target map(from : shapes)
  {
    shapes = new Shape *[6];
    for (int i = 0; i < 6; i++) shapes[i] = i % 2 ? (Shape *)new Box(i, 10) : new Square(i);
  }
#pragma omp target map(tofrom : sum) firstprivate(shapes)
  for (int i = 0; i < 6; i++) sum += shapes[i]->area();
#pragma omp target firstprivate(shapes)
  {
    for (int i = 0; i < 6; i++) delete shapes[i];
    delete[] shapes;
  }
  CHECK(sum == 0 + 4 + 16 + 10 + 30 + 50);
  return DONE();
}
