// flags: -std=c++17
// transform, accumulate, unique, rotate, permutations, set operations, min and max, generate, inner_product.
#include <algorithm>
#include <cstdio>
#include <iterator>
#include <numeric>
#include <string>
#include <vector>
int main() {
  std::vector<int> v(20);
  std::iota(v.begin(), v.end(), -5);
  std::vector<double> w;
  std::transform(v.begin(), v.end(), std::back_inserter(w), [](int x) { return x * 0.5; });
  std::rotate(v.begin(), v.begin() + 7, v.end());
  std::reverse(v.begin() + 3, v.end());
  auto [mn, mx] = std::minmax_element(v.begin(), v.end());
  std::string s = "abca";
  int n = 0;
  std::sort(s.begin(), s.end());
  do n = n * 2 + (s[0] == 'a');
  while (std::next_permutation(s.begin(), s.end()));
  std::vector<int> a = {1, 2, 2, 3, 5, 8}, b = {2, 3, 4, 8}, u, i, d;
  std::set_union(a.begin(), a.end(), b.begin(), b.end(), std::back_inserter(u));
  std::set_intersection(a.begin(), a.end(), b.begin(), b.end(), std::back_inserter(i));
  std::set_difference(a.begin(), a.end(), b.begin(), b.end(), std::back_inserter(d));
  a.erase(std::unique(a.begin(), a.end()), a.end());
  std::printf("%d %d %td %td %d %zu %zu %zu %zu %g %d %d ", v[0], v[10], mn - v.begin(), mx - v.begin(), n, u.size(),
              i.size(), d.size(), a.size(), std::inner_product(w.begin(), w.end(), v.begin(), 0.0), std::gcd(84, 36),
              std::lcm(6, 10));
  std::partial_sum(a.begin(), a.end(), a.begin());
  std::printf("%d %d %d %d\n", a.back(), (int)std::count_if(v.begin(), v.end(), [](int x) { return x % 3 == 0; }),
              (int)std::any_of(b.begin(), b.end(), [](int x) { return x > 7; }), std::clamp(99, 0, 10));
  return 0;
}
