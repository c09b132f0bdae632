// exit: 8
// Life on a torus with classes, vectors and iterators: a longer everyday loop.
#include <cstdio>
#include <vector>
class Grid {
  int w, h;
  std::vector<unsigned char> c;

public:
  Grid(int w, int h) : w(w), h(h), c(static_cast<std::size_t>(w * h)) {}
  unsigned char &at(int x, int y) { return c[static_cast<std::size_t>((y + h) % h * w + (x + w) % w)]; }
  Grid step() {
    Grid g(w, h);
    for (int y = 0; y < h; y++)
      for (int x = 0; x < w; x++) {
        int n = -at(x, y);
        for (int j = -1; j < 2; j++)
          for (int i = -1; i < 2; i++) n += at(x + i, y + j);
        g.at(x, y) = n == 3 || (n == 2 && at(x, y));
      }
    return g;
  }
  int alive() const {
    int n = 0;
    for (auto v : c) n += v;
    return n;
  }
  void print() {
    for (int y = 0; y < h; y++) {
      for (int x = 0; x < w; x++) std::putchar(at(x, y) ? '#' : '.');
      std::putchar('\n');
    }
  }
};
int main() {
  Grid g(20, 10);
  const int glider[][2] = {{1, 0}, {2, 1}, {0, 2}, {1, 2}, {2, 2}};
  for (auto &p : glider) g.at(p[0], p[1]) = 1;
  for (int i = 10; i < 13; i++) g.at(i, 5) = 1;
  for (int i = 0; i < 30; i++) g = g.step();
  g.print();
  return g.alive();
}
