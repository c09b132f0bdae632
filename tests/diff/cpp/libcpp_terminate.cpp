// An uncaught exception reaches the terminate handler set in libc++, which sees the exception.
// flags: -stdlib=libc++
// signal: 6
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <stdexcept>

struct Guard {
  ~Guard() { std::puts("not reached by an uncaught exception"); }
};

static std::terminate_handler before;
static void handler() {
  try {
    if (std::current_exception())
      throw;
  } catch (const std::runtime_error &e) {
    std::printf("ended by runtime_error %s\n", e.what());
  } catch (...) {
    std::puts("ended by something");
  }
  std::fflush(stdout);
  std::abort();
}

[[gnu::noinline]] static void quiet(int n) noexcept {
  if (n)
    throw std::runtime_error("out of noexcept");
}

int main(int argc, char **) {
  before = std::set_terminate(handler);
  std::printf("%d %d\n", before != nullptr, std::get_terminate() == handler);
  quiet(argc - 1);
  quiet(argc);
}
