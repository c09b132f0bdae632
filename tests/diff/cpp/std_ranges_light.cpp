// flags: -std=c++20
// C++20 ranges: views, pipelines, projections, range algorithms, iota, lazy evaluation.
#include <algorithm>
#include <cstdio>
#include <ranges>
#include <string>
#include <vector>
struct P {
  std::string n;
  int a;
};
int main() {
  namespace v = std::views;
  int evals = 0;
  auto sq = v::iota(1) | v::transform([&](int x) {
              evals++;
              return x * x;
            }) |
            v::filter([](int x) { return x % 3 == 1; }) | v::take(5);
  for (int x : sq) std::printf("%d ", x);
  std::vector<P> p = {{"x", 5}, {"y", 2}, {"z", 9}};
  std::ranges::sort(p, {}, &P::a);
  std::printf("%s %d ", p[0].n.c_str(), std::ranges::max(p | v::transform(&P::a)));
  std::string s = "a,bb,ccc";
  for (auto w : s | v::split(',')) std::printf("%td ", std::ranges::distance(w));
  std::vector<int> w = {1, 2, 3, 4, 5, 6};
  for (int x : w | v::reverse | v::drop(1) | v::take_while([](int y) { return y > 2; })) std::printf("%d ", x);
  std::printf("%d %td %d\n", evals, std::ranges::count_if(w, [](int x) { return x > 3; }), *std::ranges::find(w, 4));
  return 0;
}
