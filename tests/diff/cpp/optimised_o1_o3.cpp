// exit: 29
// levels: O0 O1 O2 O3 Os
// Containers, exceptions and virtual calls together at -O1, -O3 and -Os.
#include <algorithm>
#include <cstdio>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>
struct Op {
  virtual ~Op() = default;
  virtual long run(long x) const = 0;
};
struct Add : Op {
  long k;
  Add(long k) : k(k) {}
  long run(long x) const override { return x + k; }
};
struct Chk : Op {
  long lim;
  Chk(long l) : lim(l) {}
  long run(long x) const override {
    if (x > lim) throw std::overflow_error("over " + std::to_string(lim));
    return x * 2;
  }
};
int main() {
  std::vector<std::unique_ptr<Op>> ops;
  for (int i = 0; i < 20; i++)
    if (i % 4 == 3)
      ops.push_back(std::make_unique<Chk>(100L << i));
    else
      ops.push_back(std::make_unique<Add>(i * 3));
  long x = 1;
  int caught = 0;
  std::string last;
  for (int round = 0; round < 30; round++)
    for (auto &o : ops) try {
        x = o->run(x);
      } catch (const std::exception &e) {
        caught++;
        last = e.what();
        x /= 1000;
      }
  std::printf("%ld %d %s\n", x, caught, last.c_str());
  return caught & 63;
}
