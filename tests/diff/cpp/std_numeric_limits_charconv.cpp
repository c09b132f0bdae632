// flags: -std=c++20
// numeric_limits, from_chars, to_chars, bit_cast, <bit> functions, span, midpoint.
#include <bit>
#include <charconv>
#include <cstdint>
#include <cstdio>
#include <limits>
#include <numeric>
#include <span>
static int sum(std::span<const int> s) {
  int t = 0;
  for (int x : s) t += x;
  return t;
}
int main() {
  char b[40];
  auto r = std::to_chars(b, b + 40, -123456789ll, 36);
  *r.ptr = 0;
  int v = 0;
  const char *oct = "777x";
  auto f = std::from_chars(oct, &oct[4], v, 8);
  char c[40];
  *std::to_chars(c, c + 40, 0.1).ptr = 0;
  std::printf("%s %d %c %s ", b, v, *f.ptr, c);
  std::printf("%d %lld %g %d %d ", std::numeric_limits<int>::max(), (long long)std::numeric_limits<long>::min(),
              std::numeric_limits<double>::epsilon(), std::numeric_limits<float>::digits,
              std::numeric_limits<unsigned char>::digits10);
  std::printf("%llx %d %d %u %u %d ", (unsigned long long)std::bit_cast<std::uint64_t>(1.5), std::popcount(0xf0fu),
              std::countl_zero(1u), std::bit_ceil(37u), std::rotl(0x80000001u, 4), std::has_single_bit(64u));
  int a[] = {1, 2, 3, 4};
  std::printf("%d %d %d\n", sum(a), sum(std::span(a).subspan(1, 2)), std::midpoint(INT32_MAX, INT32_MAX - 2));
  return 0;
}
