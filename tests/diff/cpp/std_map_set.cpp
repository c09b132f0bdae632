// flags: -std=c++20
// map, set, multimap: insertion, lookup, bounds, erase, custom order, structured bindings, node handles.
#include <cstdio>
#include <map>
#include <set>
#include <string>
struct Len {
  bool operator()(const std::string &a, const std::string &b) const {
    return a.size() != b.size() ? a.size() < b.size() : a < b;
  }
};
int main() {
  std::map<std::string, int> m;
  const char *text[] = {"the", "cat", "and", "the", "dog", "and", "the", "elephant"};
  for (auto t : text) m[t]++;
  for (auto &[k, v] : m) std::printf("%s=%d ", k.c_str(), v);
  std::set<std::string, Len> s;
  for (auto t : text) s.insert(t);
  for (auto &x : s) std::printf("%s ", x.c_str());
  std::multimap<int, int> mm;
  for (int i = 0; i < 30; i++) mm.emplace(i % 7, i);
  auto [lo, hi] = mm.equal_range(3);
  int t = 0;
  for (; lo != hi; ++lo) t = t * 10 + lo->second % 10;
  mm.erase(2);
  auto n = m.extract("cat");
  n.key() = "lion";
  m.insert(std::move(n));
  std::set<int> big;
  for (unsigned i = 0, x = 1; i < 300; i++) {
    x = x * 1664525 + 1013904223;
    big.insert((int)(x >> 20));
  }
  int it = 0;
  for (int x : big) it = (it * 31 + x) & 0xffffff;
  std::printf("%d %zu %zu %d %d %d\n", t, mm.size(), big.size(), it, *big.lower_bound(2000),
              m.count("lion") == 1 && !m.contains("cat"));
  return 0;
}
