// Exceptions stored, rethrown, nested and counted by libc++: current_exception, exception_ptr,
// nested_exception, uncaught_exceptions, futures of other threads.
// flags: -stdlib=libc++ -pthread
#include <cstdio>
#include <exception>
#include <future>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

struct Number {
  int n;
  explicit Number(int n) : n(n) {}
};

[[gnu::noinline]] static std::exception_ptr keep(int n) {
  try {
    if (n % 3 == 0)
      throw Number(n);
    if (n % 3 == 1)
      throw std::out_of_range("range " + std::to_string(n));
    throw n;
  } catch (...) {
    return std::current_exception();
  }
}

[[gnu::noinline]] static void tell(const std::exception_ptr &p) {
  try {
    std::rethrow_exception(p);
  } catch (const Number &n) {
    std::printf("Number %d\n", n.n);
  } catch (const std::logic_error &e) {
    std::printf("logic_error %s\n", e.what());
  } catch (int n) {
    std::printf("int %d\n", n);
  } catch (...) {
    std::puts("unknown");
  }
}

[[gnu::noinline]] static void nest(int depth) {
  try {
    if (depth == 0)
      throw Number(100);
    nest(depth - 1);
  } catch (...) {
    std::throw_with_nested(std::runtime_error("level " + std::to_string(depth)));
  }
}

[[gnu::noinline]] static void unnest(const std::exception &e) {
  std::printf("%s\n", e.what());
  try {
    std::rethrow_if_nested(e);
  } catch (const std::exception &inner) {
    unnest(inner);
  } catch (const Number &n) {
    std::printf("inmost %d\n", n.n);
  }
}

struct Counter {
  int before = std::uncaught_exceptions();
  ~Counter() {
    std::printf("uncaught %d, of them new %d\n", std::uncaught_exceptions(), std::uncaught_exceptions() - before);
    try {
      Inner i;
      throw 1;
    } catch (int) {
    }
  }
  struct Inner {
    ~Inner() { std::printf("inner uncaught %d\n", std::uncaught_exceptions()); }
  };
};

int main() {
  std::vector<std::exception_ptr> kept;
  for (int i = 0; i < 7; i++)
    kept.push_back(keep(i));
  for (int round = 0; round < 2; round++)
    for (auto &p : kept)
      tell(p);
  kept.clear();
  tell(std::make_exception_ptr(Number(55)));
  try {
    nest(3);
  } catch (const std::exception &e) {
    unnest(e);
  }
  try {
    Counter c;
    throw Number(1);
  } catch (const Number &) {
    Counter c;
  }
  std::printf("none: %d\n", std::current_exception() == nullptr);
  try {
    try {
      throw Number(9);
    } catch (...) {
      try {
        throw;
      } catch (Number &n) {
        n.n++;
        throw;
      }
    }
  } catch (const Number &n) {
    std::printf("rethrown %d\n", n.n);
  }
  std::exception_ptr from_thread;
  std::thread([&] { from_thread = keep(4); }).join();
  tell(from_thread);
  auto future = std::async(std::launch::async, [](int n) -> int { throw Number(n); }, 77);
  try {
    std::printf("%d\n", future.get());
  } catch (const Number &n) {
    std::printf("future's %d\n", n.n);
  }
}
