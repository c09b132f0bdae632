// Calls a function with a parallel loop from C++. The book shows the lines below.
#include <ompvm.hpp>
#include <cstdio>
int main() {
  ompvm::Process process = ompvm::open("kernel.bc");
  auto dot = process.function<double(long, const double *, const double *)>("dot");
  double x[] = {1, 2, 3}, y[] = {4, 5, 6};
  std::printf("%g\n", dot(3, x, y));
}
