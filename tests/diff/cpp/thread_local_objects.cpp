// exit: 3
// flags: -pthread
// thread_local with dynamic initializers and destructors, per thread and at exit.
#include <atomic>
#include <cstdio>
#include <thread>
static std::atomic<int> made, gone;
static int init() { return ++made * 0 + 5; }
struct T {
  int v;
  T() : v(init()) {}
  ~T() { gone++; }
};
thread_local T t;
thread_local int counter = init() + 1;
static thread_local T *lazy;
static int bump() {
  static thread_local int n = init();
  return n += t.v;
}
int main() {
  int r[3];
  for (int i = 0; i < 3; i++)
    std::thread([&, i] {
      for (int k = 0; k <= i; k++) r[i] = bump() + counter;
      lazy = &t;
    }).join();
  std::printf("%d %d %d %d %d %d\n", r[0], r[1], r[2], made.load(), gone.load(), lazy == nullptr);
  std::printf("%d %d %d\n", bump(), t.v, made.load());
  std::thread([] {}).join();
  return gone;
}
