// exit: 42
// Exceptions caught within atexit handlers, static destructors, signal handlers and qsort inside a catch block.
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <stdexcept>
static int safe(int x) {
  try {
    if (x) throw x;
    return 0;
  } catch (int e) { return e * 2; }
}
struct S {
  ~S() { std::printf("static %d\n", safe(4)); }
};
static S s;
static volatile int sig;
static void h(int) { sig = safe(21); }
static int cmp(const void *a, const void *b) { return safe(*(const int *)a) - safe(*(const int *)b); }
int main() {
  std::atexit([] { std::printf("atexit %d\n", safe(3)); });
  std::signal(SIGUSR1, h);
  std::raise(SIGUSR1);
  int v[] = {3, 1, 2};
  try {
    throw 1;
  } catch (int) {
    std::qsort(v, 3, sizeof *v, cmp);
    std::raise(SIGUSR1);
  }
  std::printf("%d %d%d%d\n", sig, v[0], v[1], v[2]);
  return sig;
}
