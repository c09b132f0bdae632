// An exception thrown by a std::function inside std::sort, on several threads at once.
// stdout: ok
// levels: O0 O2
#include "../../check.h"
#include <algorithm>
#include <functional>
#include <vector>
int main() {
  int caught = 0;
#pragma omp parallel num_threads(3) reduction(+ : caught)
  {
    std::vector<int> v(100);
    for (int i = 0; i < 100; i++) v[i] = i * 61 % 100;
    int compares = 0;
    std::function<bool(int, int)> less = [&](int a, int b) { if (++compares == 150) throw compares; return a < b; };
    try { std::sort(v.begin(), v.end(), less); } catch (int n) { caught += n; }
  }
  CHECK(caught == 450);
  return DONE();
}
