// exit: 12
// flags: -pthread
// Exceptions in threads: caught inside, carried out by exception_ptr, by future and by packaged_task.
#include <cstdio>
#include <exception>
#include <future>
#include <stdexcept>
#include <thread>
int main() {
  std::exception_ptr p;
  std::thread t([&] {
    try {
      throw std::runtime_error("in thread");
    } catch (...) { p = std::current_exception(); }
  });
  t.join();
  try {
    std::rethrow_exception(p);
  } catch (std::exception &e) { std::puts(e.what()); }
  auto f = std::async(
      std::launch::async,
      [](int x) -> int {
        if (x) throw x;
        return 0;
      },
      12);
  int r = 0;
  try {
    f.get();
  } catch (int e) { r = e; }
  std::packaged_task<int()> k([]() -> int { throw std::out_of_range("task"); });
  auto g = k.get_future();
  std::thread u(std::move(k));
  u.join();
  try {
    g.get();
  } catch (std::logic_error &e) { std::puts(e.what()); }
  std::promise<int> pr;
  auto h = pr.get_future();
  { std::promise<int> q = std::move(pr); }
  try {
    h.get();
  } catch (std::future_error &e) { std::printf("%d\n", e.code() == std::future_errc::broken_promise); }
  return r;
}
