// std::vector: growth, insert, erase, iterators, nested vectors, vector<bool>, move and swap.
#include <cstdio>
#include <numeric>
#include <vector>
int main() {
  std::vector<int> v;
  for (int i = 0; i < 100; i++) v.push_back(i * i % 37);
  v.insert(v.begin() + 5, {100, 200, 300});
  v.erase(v.begin(), v.begin() + 3);
  v.erase(v.end() - 1);
  v.resize(120, 9);
  v.emplace_back(7);
  std::vector<std::vector<double>> m(4, std::vector<double>(3, 1.5));
  m[2].push_back(4);
  m.push_back(std::move(m[0]));
  std::vector<bool> b(70);
  for (std::size_t i = 0; i < b.size(); i += 3) b[i] = true;
  b.flip();
  std::vector<int> w(v.rbegin(), v.rend());
  std::swap(v, w);
  w = v;
  std::printf("%zu %d %d %d %zu %zu %g %zu %d %d\n", v.size(), v.front(), v.back(),
              std::accumulate(v.begin(), v.end(), 0), m.size(), m[0].size(), m[4][1], b.size(),
              (int)std::accumulate(b.begin(), b.end(), 0), w == v);
  return 0;
}
