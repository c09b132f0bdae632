// Exceptions that libc++ itself throws are caught by type, with libc++'s messages.
// flags: -stdlib=libc++ -std=c++20
#include <any>
#include <bitset>
#include <cstdio>
#include <filesystem>
#include <functional>
#include <future>
#include <limits>
#include <locale>
#include <map>
#include <memory>
#include <new>
#include <optional>
#include <regex>
#include <sstream>
#include <stdexcept>
#include <string>
#include <system_error>
#include <typeinfo>
#include <variant>
#include <vector>

struct Base {
  virtual ~Base() {}
};
struct Derived : Base {};

template <class Expected, class F> [[gnu::noinline]] static void expect(const char *what, F f) {
  try {
    f();
    std::printf("%s: nothing\n", what);
  } catch (const Expected &) {
    std::printf("%s: as expected\n", what);
  } catch (const std::exception &) {
    std::printf("%s: another exception\n", what);
  } catch (...) {
    std::printf("%s: not an exception\n", what);
  }
}

static volatile std::size_t huge = std::numeric_limits<std::ptrdiff_t>::max() / 2;
static volatile int zero = 0;

int main() {
  std::vector<int> v(3);
  std::map<int, int> m;
  std::string s = "abc";
  expect<std::out_of_range>("vector::at", [&] { v.at(3 + zero); });
  expect<std::length_error>("vector::reserve", [&] { v.reserve(huge); });
  expect<std::out_of_range>("map::at", [&] { (void)m.at(+zero); });
  expect<std::out_of_range>("string::substr", [&] { (void)s.substr(4 + zero); });
  expect<std::invalid_argument>("stoi", [&] { (void)std::stoi("x"); });
  expect<std::out_of_range>("stol", [&] { (void)std::stol("99999999999999999999999"); });
  expect<std::invalid_argument>("stod", [&] { (void)std::stod("?"); });
  expect<std::invalid_argument>("bitset", [&] { std::bitset<4> b(std::string("12")); });
  expect<std::bad_alloc>("operator new", [&] { delete[] new char[huge]; });
  expect<std::bad_array_new_length>("new []", [&] { delete[] new long[huge]; });
  expect<std::bad_cast>("dynamic_cast", [&] {
    Base b;
    (void)dynamic_cast<Derived &>(b);
  });
  expect<std::bad_typeid>("typeid", [&] {
    Base *p = zero ? new Base : nullptr;
    (void)typeid(*p).name();
  });
  expect<std::bad_function_call>("function", [&] { std::function<void()>()(); });
  expect<std::bad_any_cast>("any", [&] { (void)std::any_cast<int>(std::any(1.5)); });
  expect<std::bad_optional_access>("optional", [&] { (void)std::optional<int>().value(); });
  expect<std::bad_variant_access>("variant", [&] {
    std::variant<int, double> x(zero);
    (void)std::get<double>(x);
  });
  expect<std::bad_weak_ptr>("weak_ptr", [&] { std::shared_ptr<int> p(std::weak_ptr<int>{}); });
  expect<std::regex_error>("regex", [&] { std::regex r("("); });
  expect<std::filesystem::filesystem_error>("filesystem", [&] { std::filesystem::file_size("/no/such/file"); });
  expect<std::system_error>("thread", [&] { std::thread().join(); });
  expect<std::future_error>("future", [&] {
    std::promise<int> p;
    p.set_value(1);
    p.set_value(2);
  });
  expect<std::future_error>("broken promise", [&] {
    std::future<int> f;
    {
      std::promise<int> p;
      f = p.get_future();
    }
    f.get();
  });
  expect<std::ios_base::failure>("stream", [&] {
    std::istringstream in("no number");
    in.exceptions(std::ios::failbit);
    int x;
    in >> x;
  });
  expect<std::runtime_error>("locale", [&] { std::locale l("no such locale"); });
  try {
    (void)std::stoi("y");
  } catch (const std::logic_error &e) {
    std::printf("%s\n", e.what());
  }
  try {
    throw std::system_error(std::make_error_code(std::errc::no_space_on_device), "here");
  } catch (const std::system_error &e) {
    std::printf("%d %s\n", e.code().value(), e.what());
  }
}
