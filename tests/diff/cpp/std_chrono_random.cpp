// flags: -std=c++20
// chrono arithmetic on fixed values and the seeded engines of <random> whose sequences the standard fixes.
#include <chrono>
#include <cstdio>
#include <random>
int main() {
  using namespace std::chrono;
  auto d = hours(2) + minutes(30) - seconds(15);
  milliseconds m = d;
  std::printf("%lld %lld %d %g ", (long long)d.count(), (long long)m.count(), d > hours(2),
              duration<double, std::ratio<3600>>(d).count());
  auto t0 = steady_clock::now(), t1 = steady_clock::now();
  std::printf("%d ", t1 >= t0);
  sys_days day = year(2024) / 2 / 29;
  std::printf("%u %d %d\n", weekday(day).c_encoding(), (int)(day.time_since_epoch().count()), year(2023).is_leap());
  std::mt19937 g(42);
  std::mt19937_64 h(7);
  std::minstd_rand q(3);
  unsigned x = 0;
  for (int i = 0; i < 1000; i++) x = x * 31 + static_cast<unsigned>(g());
  std::printf("%u %llu %u ", x, (unsigned long long)h(), (unsigned)q());
  std::mt19937 def;
  def.discard(9999);
  std::printf("%u\n", (unsigned)def());
  return 0;
}
