// A thread_local variable of a native library, used in functions that are called often: libstdc++'s,
// which `std::call_once` sets. Every thread has its own instance, at one address in all calls.
// levels: O0 O2
// stdout: 4 threads, once 1, calls 400000
// stdout: ok
#include "../../check.h"
#include <atomic>
#include <mutex>
#include <thread>
#include <vector>

static std::once_flag flag;
static std::atomic<int> once, calls;

__attribute__((noinline)) static void ask() {
  std::call_once(flag, [] { once++; });
  calls++;
}

__attribute__((noinline)) static void put(void *value) { std::__once_callable = value; }
__attribute__((noinline)) static void *get() { return std::__once_callable; }

int main() {
  std::vector<std::thread> threads;
  for (long n = 1; n <= 4; n++)
    threads.emplace_back([n] {
      void *own = &std::__once_callable;
      for (int i = 0; i < 100000; i++) {
        ask();
        put((void *)n);
        CHECK(get() == (void *)n && &std::__once_callable == own);
      }
    });
  for (auto &thread : threads)
    thread.join();
#pragma omp parallel num_threads(2)
  {
    put(&flag);
    CHECK(get() == &flag);
  }
  printf("%zu threads, once %d, calls %d\n", threads.size(), once.load(), calls.load());
  DONE();
}
