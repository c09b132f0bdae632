// flags: -Wno-deprecated-declarations
// sort, stable_sort, partial_sort, nth_element, heaps, partition, binary searches with guest comparators.
#include <algorithm>
#include <cstdio>
#include <functional>
#include <vector>
struct R {
  int k, v;
};
int main() {
  std::vector<int> v;
  unsigned x = 5;
  for (int i = 0; i < 600; i++) {
    x = x * 1103515245 + 12345;
    v.push_back((int)(x >> 16) % 500);
  }
  auto a = v;
  std::sort(a.begin(), a.end());
  auto b = v;
  std::sort(b.begin(), b.end(), std::greater<>());
  bool rev = std::equal(a.begin(), a.end(), b.rbegin());
  std::vector<R> r;
  for (int i = 0; i < 200; i++) r.push_back({v[i] % 10, i});
  std::stable_sort(r.begin(), r.end(), [](const R &p, const R &q) { return p.k < q.k; });
  bool st = std::is_sorted(r.begin(), r.end(), [](auto &p, auto &q) { return p.k != q.k ? p.k < q.k : p.v < q.v; });
  auto c = v;
  std::nth_element(c.begin(), c.begin() + 300, c.end());
  auto d = v;
  std::partial_sort(d.begin(), d.begin() + 10, d.end());
  std::make_heap(v.begin(), v.end());
  std::pop_heap(v.begin(), v.end());
  int top = v.back();
  auto p = std::partition(v.begin(), v.end(), [](int y) { return y < 100; });
  int np = (int)(p - v.begin());
  std::printf("%d %d %d %d %d %d %d %d %d\n", rev, st, c[300] == a[300],
              std::equal(a.begin(), a.begin() + 10, d.begin()), top == a.back(),
              np == (int)(std::lower_bound(a.begin(), a.end(), 100) - a.begin()),
              std::binary_search(a.begin(), a.end(), a[77]), a[0], a[599]);
  return 0;
}
