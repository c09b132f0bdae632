// flags: -pthread
// std::call_once around arithmetic that is compiled at its first use: the current
// callable is kept in variables of the thread, which no other code on the thread may touch.
#include <cstdio>
#include <mutex>
#include <thread>
#include <vector>

static std::once_flag flags[3];
static long double total;

static void add(int n) {
  std::call_once(flags[n % 3], [](int k) { total += (long double)(k % 3 + 1) / 4; }, n);
}

int main(int argc, char **) {
  int failures = 0;
  try {
    std::call_once(flags[0], [](int k) { throw (long double)k / 8; }, argc);
  } catch (long double x) {
    failures += x == 0.125L;
  }
  std::vector<std::thread> threads;
  for (int i = 0; i < 9; i++) {
    threads.emplace_back(add, i);
    threads.back().join();
  }
  std::printf("%.3Lf %d\n", total, failures);
}
