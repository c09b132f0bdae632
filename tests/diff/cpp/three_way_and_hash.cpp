// flags: -std=c++20
// Spaceship on aggregates with strong, weak and partial ordering, NaN, strings, arrays; used as keys of maps.
#include <compare>
#include <cmath>
#include <cstdio>
#include <map>
#include <set>
#include <string>
struct V {
  int maj, min;
  std::string tag;
  auto operator<=>(const V &) const = default;
};
struct D {
  double d;
  std::partial_ordering operator<=>(const D &) const = default;
};
struct Ci {
  std::string s;
  std::weak_ordering operator<=>(const Ci &o) const { return s.size() <=> o.s.size(); }
  bool operator==(const Ci &o) const { return s.size() == o.s.size(); }
};
struct Arr {
  int a[3];
  bool operator==(const Arr &) const = default;
  auto operator<=>(const Arr &) const = default;
};
int main() {
  std::set<V> s{{1, 2, "b"}, {1, 2, "a"}, {0, 9, "z"}, {1, 2, "a"}};
  for (auto &v : s) std::printf("%d.%d%s ", v.maj, v.min, v.tag.c_str());
  D a{1}, n{NAN};
  std::printf("%d%d%d%d ", a<n, a> n, (a <=> n) == std::partial_ordering::unordered, a != n);
  std::map<Ci, int> m;
  m[{"aa"}] = 1;
  m[{"bb"}]++;
  m[{"c"}] = 7;
  std::printf("%zu %d %d %d\n", m.size(), m[{"zz"}], Arr{{1, 2, 3}} < Arr{{1, 3}}, Arr{{4}} == Arr{{4, 0, 0}});
  return 0;
}
