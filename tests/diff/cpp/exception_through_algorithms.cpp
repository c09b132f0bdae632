// Exceptions out of callbacks in std algorithms, streams and containers, which stay usable.
#include <algorithm>
#include <cstdio>
#include <map>
#include <stdexcept>
#include <string>
#include <vector>
struct X {
  int v;
  static int live, budget;
  X(int v = 0) : v(v) { live++; }
  X(const X &o) : v(o.v) {
    if (--budget == 0) throw std::bad_alloc();
    live++;
  }
  X &operator=(const X &) = default;
  ~X() { live--; }
};
int X::live, X::budget = 1000;
int main() {
  std::vector<int> v = {1, 2, 3, 4, 5, 6};
  try {
    std::for_each(v.begin(), v.end(), [](int x) {
      if (x == 4) throw x;
      std::printf("%d ", x);
    });
  } catch (int e) { std::printf("stop%d ", e); }
  try {
    std::sort(v.begin(), v.end(), [n = 0](int a, int b) mutable {
      if (++n > 5) throw "sort";
      return a > b;
    });
  } catch (const char *s) { std::printf("%s ", s); }
  {
    std::vector<X> x(10);
    X::budget = 7;
    try {
      std::vector<X> y(x);
    } catch (std::bad_alloc &) { std::printf("live%d ", X::live); }
    X::budget = 1000;
    x.push_back(X(5));
  }
  std::printf("live%d ", X::live);
  try {
    v.at(99);
  } catch (std::out_of_range &) { std::printf("at "); }
  try {
    std::stoi("zzz");
  } catch (std::invalid_argument &e) { std::printf("%s ", e.what()); }
  try {
    std::map<int, int>().at(3);
  } catch (std::out_of_range &) { std::puts("map"); }
  return X::live;
}
