// flags: -std=c++20
// unordered_map and unordered_set: rehash, custom hash, erase while iterating, order-independent sums.
#include <cstdio>
#include <string>
#include <unordered_map>
#include <unordered_set>
struct P {
  int x, y;
  bool operator==(const P &) const = default;
};
struct H {
  std::size_t operator()(const P &p) const {
    return static_cast<std::size_t>(p.x) * 7919u ^ static_cast<std::size_t>(p.y);
  }
};
int main() {
  std::unordered_map<std::string, int> m;
  for (int i = 0; i < 500; i++) m["k" + std::to_string(i * i % 211)] += i;
  long s = 0;
  for (auto &[k, v] : m) s += v * static_cast<long>(k.size());
  for (auto it = m.begin(); it != m.end();) it = it->second % 2 ? m.erase(it) : std::next(it);
  std::unordered_set<P, H> u;
  for (int i = 0; i < 400; i++) u.insert({i % 20, i % 15});
  std::unordered_multimap<int, int> mm;
  for (int i = 0; i < 50; i++) mm.emplace(i % 5, i);
  std::printf("%ld %zu %zu %d %zu %d\n", s, m.size(), u.size(), (int)u.count({3, 13}), mm.count(4),
              m.find("nokey") == m.end());
  return 0;
}
