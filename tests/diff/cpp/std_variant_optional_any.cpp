// flags: -std=c++17
// variant with visit, optional, any, tuple, pair, their exceptions.
#include <any>
#include <cstdio>
#include <optional>
#include <string>
#include <tuple>
#include <variant>
#include <vector>
template <class... F> struct Ov : F... {
  using F::operator()...;
};
template <class... F> Ov(F...) -> Ov<F...>;
static std::optional<int> half(int x) {
  if (x % 2) return std::nullopt;
  return x / 2;
}
int main() {
  std::vector<std::variant<int, double, std::string>> v = {1, 2.5, std::string("three"), 4};
  for (auto &x : v)
    std::visit(Ov{[](int i) { std::printf("i%d ", i); }, [](double d) { std::printf("d%g ", d); },
                  [](const std::string &s) { std::printf("s%s ", s.c_str()); }},
               x);
  try {
    std::get<double>(v[0]);
  } catch (const std::bad_variant_access &) { std::printf("bva "); }
  v[0] = "str";
  std::printf("%zu %d ", v[0].index(), std::get_if<int>(&v[3]) != nullptr);
  std::printf("%d %d %d ", half(8).value(), half(7).value_or(-1), half(3).has_value());
  try {
    half(1).value();
  } catch (std::bad_optional_access &) { std::printf("boa "); }
  std::any a = 5;
  a = std::string("any");
  try {
    std::any_cast<int>(a);
  } catch (std::bad_any_cast &) { std::printf("bac "); }
  auto t = std::make_tuple(1, 'c', 2.5, std::string("t"));
  auto [p, q, r, s] = t;
  std::printf("%s %d%c%g%s %d %g\n", std::any_cast<std::string &>(a).c_str(), p, q, r, s.c_str(),
              std::tuple(1, 2) < std::tuple(1, 3), std::apply([](auto... x) { return (double(sizeof(x)) + ...); }, t));
  return 0;
}
