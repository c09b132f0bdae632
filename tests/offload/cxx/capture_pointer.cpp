// A lambda that captured pointers by value, called in regions in which what they lead to is mapped, or is not and is not used.
#include "../../check.h"
struct Pair {
  int low, high;
};
int main() {
  Pair pair = {1, 2}, *to = &pair;
  int values[8] = {0}, *v = values, offset = 5;
  auto swap = [to] { int low = to->low; to->low = to->high; to->high = low; };
  auto store = [=](int i) { v[i] = i + offset + (offset > 5 ? to->low : 0); };
#pragma omp target map(to[0])
  swap();
  CHECK(pair.low == 2 && pair.high == 1);
#pragma omp target data map(to[0])
  {
#pragma omp target
    {
      to->high += 10;
      swap();
    }
  }
  CHECK(pair.low == 11 && pair.high == 2);
#pragma omp target teams distribute parallel for map(v[0 : 8])
  for (int i = 0; i < 8; i++) store(i);
  for (int i = 0; i < 8; i++) CHECK(values[i] == i + 5);
  return DONE();
}
