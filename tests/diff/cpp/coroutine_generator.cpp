// exit: 42
// flags: -std=c++20
// A generator coroutine: suspend, resume, destroy early, values by reference, exceptions through resume.
#include <coroutine>
#include <cstdio>
#include <exception>
#include <utility>
template <class T> struct Gen {
  struct promise_type {
    T v;
    std::exception_ptr e;
    Gen get_return_object() { return Gen(std::coroutine_handle<promise_type>::from_promise(*this)); }
    std::suspend_always initial_suspend() noexcept { return {}; }
    std::suspend_always final_suspend() noexcept { return {}; }
    std::suspend_always yield_value(T x) {
      v = x;
      return {};
    }
    void return_void() {}
    void unhandled_exception() { e = std::current_exception(); }
  };
  std::coroutine_handle<promise_type> h;
  explicit Gen(std::coroutine_handle<promise_type> h) : h(h) {}
  Gen(Gen &&o) : h(std::exchange(o.h, {})) {}
  ~Gen() {
    if (h) h.destroy();
  }
  bool next() {
    h.resume();
    if (h.promise().e) std::rethrow_exception(h.promise().e);
    return !h.done();
  }
  T value() { return h.promise().v; }
};
struct G {
  const char *n;
  ~G() { std::printf("~%s ", n); }
};
static Gen<int> fib(int n) {
  G g{"fib"};
  int a = 0, b = 1;
  for (int i = 0; i < n; i++) {
    co_yield a;
    int t = a + b;
    a = b;
    b = t;
  }
}
static Gen<int> filt(Gen<int> src, int m) {
  while (src.next())
    if (src.value() % m == 0) co_yield src.value();
}
static Gen<int> bad() {
  co_yield 1;
  throw 42;
}
int main() {
  auto f = filt(fib(25), 2);
  long s = 0;
  while (f.next()) s = s * 3 + f.value();
  std::printf("%ld ", s);
  {
    auto e = fib(100);
    e.next();
    e.next();
    e.next();
    std::printf("%d ", e.value());
  }
  auto b = bad();
  int r = 0;
  try {
    while (b.next()) std::printf("y%d ", b.value());
  } catch (int e) { r = e; }
  std::printf("%d\n", r);
  return r;
}
