// As first_calls_beside_malloc.c: virtual functions of objects that others made, and instances of templates, in a
// handler that `signal` installed, while the program grows containers.
// stdout: ok
// levels: O0 O2
#include <csignal>
#include <cstdio>
#include <map>
#include <memory>
#include <string>
#include <sys/time.h>
#include <utility>
#include <vector>

struct Shape {
  virtual int area(int n) const = 0;
  virtual ~Shape() = default;
};
template <int N> struct Square final : Shape {
  int side = N;
  template <int M> int times(int n) const { return n * M + side; }
  int area(int n) const override { return times<N>(n); }
};
constexpr int COUNT = 60;
static std::vector<std::unique_ptr<Shape>> shapes;
template <int... N> static void make(std::integer_sequence<int, N...>) {
  (shapes.push_back(std::make_unique<Square<N>>()), ...);
}

// Constructed by the handler, which no constructor's call precedes.
template <int N> struct Counter {
  int start;
  Counter() : start(N) {}
  int next(int n) const { return n + start; }
};
template <int... N> static int count(int which, std::integer_sequence<int, N...>) {
  int result = 0;
  ((which == N ? void(result = Counter<N>().next(1)) : void()), ...);
  return result;
}

static volatile int ticks, areas, counted;
static void tick(int) {
  if (ticks < COUNT) {
    areas = areas + shapes[ticks]->area(10);
    counted = counted + count(ticks, std::make_integer_sequence<int, COUNT>());
  }
  ticks = ticks + 1;
}

int main() {
  make(std::make_integer_sequence<int, COUNT>());
  std::signal(SIGALRM, tick);
  itimerval often = {{0, 50}, {0, 50}}, never = {{0, 0}, {0, 0}};
  setitimer(ITIMER_REAL, &often, nullptr);
  unsigned long used = 0;
  // All signals may arrive before the first round.
  for (int round = 0; round == 0 || ticks < COUNT; round++) {
    std::map<std::string, std::vector<int>> words;
    for (int i = 0; i < 20; i++)
      words[std::string(20 + i, char('a' + i))].resize(round % 500 + i);
    used += words.size();
    for (int i = 0; i < 2000; i++) {
      char *volatile block = new char[64 + (i * 37 + round) % 4000];
      delete[] block;
    }
  }
  setitimer(ITIMER_REAL, &never, nullptr);
  int area = 0, sum = 0;
  for (int i = 0; i < COUNT; i++)
    area += 10 * i + i, sum += 1 + i;
  std::puts(areas == area && counted == sum && used > 0 ? "ok" : "wrong");
}
