// exit: 6
// flags: -std=c++20
// Initializer lists, aggregates, designated initializers, structured bindings on arrays and members, range-for with init.
#include <cstdio>
#include <initializer_list>
#include <map>
#include <vector>
struct A {
  int x;
  double y = 2.5;
  struct {
    char c, d;
  } in;
};
struct L {
  std::vector<int> v;
  int n = 0;
  L(std::initializer_list<int> l) : v(l) {}
  L(int n, int x) : v(static_cast<std::size_t>(n), x), n(1) {}
};
static int sum(std::initializer_list<int> l) {
  int s = 0;
  for (int x : l) s += x;
  return s;
}
template <class... T> static int cnt(T...) { return sum({(int)sizeof(T)...}); }
int main() {
  A a{.x = 3, .in = {'p', 'q'}};
  auto [x, y, in] = a;
  int arr[] = {4, 5, 6};
  auto &[p, q, r] = arr;
  q = 50;
  L l1{5, 9}, l2(5, 9);
  std::map<int, std::vector<const char *>> m{{2, {"b", "bb"}}, {1, {"a"}}};
  int t = 0;
  for (int k = 10; auto &[key, val] : m) t = t * k + key * (int)val.size();
  std::printf("%d %g %c %d %zu %zu %d %d %d %d %d\n", x, y, in.d, arr[1], l1.v.size(), l2.v.size(), l2.n, t, sum({}),
              cnt(1, 'c', 2.0), p + r);
  return sum({1, 2, 3});
}
