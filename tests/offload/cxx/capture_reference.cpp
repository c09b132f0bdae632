// A lambda that captures by reference, called in a region in which the referenced variable is mapped.
#include "../../check.h"
int main() {
  int a[8] = {0}, k = 3;
  auto f = [&](int i) { a[i] = k * i; };
#pragma omp target teams distribute parallel for map(tofrom : a, k)
  for (int i = 0; i < 8; i++) f(i);
  for (int i = 0; i < 8; i++) CHECK(a[i] == 3 * i);
  return DONE();
}
