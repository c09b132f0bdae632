// exit: 50
// flags: -std=c++20
// constexpr tables, consteval, constinit, if consteval-free branches, constexpr containers, static_assert.
#include <array>
#include <cstdio>
#include <string_view>
consteval int sq(int x) { return x * x; }
constexpr auto crc = [] {
  std::array<unsigned, 256> t{};
  for (unsigned i = 0; i < 256; i++) {
    unsigned c = i;
    for (int k = 0; k < 8; k++) c = c & 1 ? 0xedb88320u ^ c >> 1 : c >> 1;
    t[i] = c;
  }
  return t;
}();
constinit static int counter = sq(7);
constexpr std::string_view names[] = {"zero", "one", "two"};
constexpr int fib(int n) {
  int a = 0, b = 1;
  while (n--) {
    int t = a + b;
    a = b;
    b = t;
  }
  return a;
}
static_assert(fib(20) == 6765);
struct L {
  int v;
  constexpr L(int v) : v(v) {}
  constexpr ~L() {}
  constexpr int get() const { return v + 1; }
};
constexpr int lit = L(4).get();
template <auto V> struct K {
  static constexpr auto v = V;
};
int main() {
  unsigned c = ~0u;
  for (char x : std::string_view("123456789")) c = crc[(c ^ static_cast<unsigned char>(x)) & 255] ^ c >> 8;
  volatile int n = 10;
  counter++;
  std::printf("%08x %d %s %d %d %c %d\n", ~c, counter, names[2].data(), fib(n), lit, K<'q'>::v, K<sq(3)>::v);
  return counter;
}
