// As first_calls_in_handler.c, with instances of a template and virtual functions.
// stdout: ok
// levels: O0 O2
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <sys/time.h>
#include <utility>

struct Shape {
  virtual int area(int n) const = 0;
  virtual ~Shape() = default;
};
template <int N> struct Own final : Shape {
  int area(int n) const override { return n > N ? n - N : n + N; }
};
template <int N> struct Handlers final : Shape {
  int area(int n) const override { return n < N ? n + N : n - N; }
};
constexpr int COUNT = 60;

template <template <int> class Kind, int... N>
static const Shape *pick(int n, std::integer_sequence<int, N...>) {
  static const std::pair<int, const Shape *> all[] = {{N, new Kind<N>}...};
  return all[n].second;
}
template <template <int> class Kind> static const Shape *shape(int n) {
  return pick<Kind>(n, std::make_integer_sequence<int, COUNT>());
}

static volatile int ticks, done, sum;
static void tick(int) {
  int now = __atomic_fetch_add(&ticks, 1, __ATOMIC_RELAXED);
  if (now >= COUNT)
    return;
  __atomic_fetch_add(&sum, shape<Handlers>(now)->area(1000), __ATOMIC_RELAXED);
  __atomic_fetch_add(&done, 1, __ATOMIC_RELEASE);
}

int main() {
  int expected = 0, total = 0;
  for (int i = 0; i < COUNT; i++)
    expected += 1000 - i;
  shape<Handlers>(0), shape<Own>(0);
  std::signal(SIGALRM, tick);
  itimerval often = {{0, 50}, {0, 50}}, never = {{0, 0}, {0, 0}};
  setitimer(ITIMER_REAL, &often, nullptr);
  for (int i = 0; i < COUNT; i++)
    total += shape<Own>(i)->area(1000);
  while (__atomic_load_n(&done, __ATOMIC_ACQUIRE) < COUNT)
    ;
  setitimer(ITIMER_REAL, &never, nullptr);
  std::puts(total == expected && sum == expected ? "ok" : "wrong");
}
