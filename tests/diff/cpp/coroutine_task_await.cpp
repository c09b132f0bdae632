// exit: 126
// flags: -std=c++20
// Awaitable tasks: symmetric transfer, await_transform, return values, a small round-robin scheduler.
#include <coroutine>
#include <cstdio>
#include <deque>
struct Task {
  struct promise_type {
    int v = 0;
    std::coroutine_handle<> next;
    Task get_return_object() { return {std::coroutine_handle<promise_type>::from_promise(*this)}; }
    std::suspend_always initial_suspend() noexcept { return {}; }
    struct Fin {
      bool await_ready() noexcept { return false; }
      std::coroutine_handle<> await_suspend(std::coroutine_handle<promise_type> h) noexcept {
        return h.promise().next ? h.promise().next : std::noop_coroutine();
      }
      void await_resume() noexcept {}
    };
    Fin final_suspend() noexcept { return {}; }
    void return_value(int x) { v = x; }
    void unhandled_exception() {}
  };
  std::coroutine_handle<promise_type> h;
  bool await_ready() { return false; }
  std::coroutine_handle<> await_suspend(std::coroutine_handle<> c) {
    h.promise().next = c;
    return h;
  }
  int await_resume() {
    int v = h.promise().v;
    h.destroy();
    return v;
  }
};
static std::deque<std::coroutine_handle<>> q;
struct Yield {
  bool await_ready() { return false; }
  void await_suspend(std::coroutine_handle<> h) { q.push_back(h); }
  void await_resume() {}
};
static Task leaf(int x) {
  co_await Yield{};
  co_return x * 2;
}
static Task sum(int id, int n) {
  int s = 0;
  for (int i = 0; i < n; i++) {
    s += co_await leaf(i);
    std::printf("%d:%d ", id, s);
  }
  co_return s;
}
static Task deep(int n) {
  if (n == 0) co_return 0;
  co_return 1 + co_await deep(n - 1);
}
int main() {
  Task a = sum(1, 4), b = sum(2, 3);
  q.push_back(a.h);
  q.push_back(b.h);
  while (!q.empty()) {
    auto h = q.front();
    q.pop_front();
    h.resume();
  }
  int r = a.h.promise().v * 10 + b.h.promise().v;
  a.h.destroy();
  b.h.destroy();
  Task d = deep(300);
  d.h.resume();
  std::printf("%d %d\n", r, d.h.promise().v);
  d.h.destroy();
  return r;
}
