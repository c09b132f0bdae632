// flags: -std=c++20
// Overloaded operators: arithmetic, comparison, spaceship, subscript, call, conversion, increment, comma, arrow.
#include <compare>
#include <cstdio>
struct V {
  int x, y;
  V operator+(V o) const { return {x + o.x, y + o.y}; }
  V operator-() const { return {-x, -y}; }
  V &operator*=(int k) {
    x *= k;
    y *= k;
    return *this;
  }
  auto operator<=>(const V &) const = default;
  int &operator[](int i) { return i ? y : x; }
  int operator()(int a, int b) const { return a * x + b * y; }
  explicit operator bool() const { return x || y; }
  operator int() const { return x * 100 + y; }
  V &operator++() {
    ++x;
    return *this;
  }
  V operator++(int) {
    V o = *this;
    ++y;
    return o;
  }
  V *operator->() { return this; }
  friend V operator,(V a, V b) { return {a.x, b.y}; }
};
static int operator""_sq(unsigned long long v) { return static_cast<int>(v * v); }
int main() {
  V a{1, 2}, b{3, 4};
  V c = a + b;
  c *= 2;
  c[1] = 9;
  V d = c++;
  ++d;
  V e = (a, b);
  std::printf("%d %d %d %d %d %d %d %d %d ", c.x, c.y, d->x, d->y, e.x, e.y, a < b, a == V{1, 2}, (a <=> b) < 0);
  std::printf("%d %d %d %d %d\n", c(1, 1), int(-a), bool(V{0, 0}), 12_sq, a != b);
  return 0;
}
