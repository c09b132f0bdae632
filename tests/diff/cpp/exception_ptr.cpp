// exception_ptr: capture, copy, rethrow twice, make_exception_ptr, nested_exception.
#include <cstdio>
#include <exception>
#include <stdexcept>
#include <string>
static void show(const std::exception &e, int d = 0) {
  std::printf("%*s%s\n", d, "", e.what());
  try {
    std::rethrow_if_nested(e);
  } catch (const std::exception &n) { show(n, d + 2); }
}
static void run(int k) {
  try {
    if (k == 0) throw std::runtime_error("bottom");
    run(k - 1);
  } catch (...) { std::throw_with_nested(std::runtime_error("level " + std::to_string(k))); }
}
int main() {
  std::exception_ptr p, q;
  try {
    throw std::out_of_range("oor");
  } catch (...) { p = std::current_exception(); }
  q = p;
  for (auto &e : {p, q}) try {
      std::rethrow_exception(e);
    } catch (const std::logic_error &e) { std::puts(e.what()); }
  auto m = std::make_exception_ptr(17);
  try {
    std::rethrow_exception(m);
  } catch (int i) { std::printf("%d %d %d\n", i, p == q, std::current_exception() == nullptr); }
  try {
    run(3);
  } catch (const std::exception &e) { show(e); }
  return 0;
}
