// flags: -std=c++17
// std::string: small and long strings, search, replace, substr, comparison, conversion, string_view.
#include <cstdio>
#include <string>
#include <string_view>
static std::size_t count(std::string_view s, char c) {
  std::size_t n = 0;
  for (char x : s) n += x == c;
  return n;
}
int main() {
  std::string s = "short", l(100, 'x'), t = s + " and " + l.substr(0, 5) + '!';
  t.insert(5, "er");
  t.replace(t.find("and"), 3, "or");
  l.append(t).erase(10, 80);
  std::string u = t;
  u += std::to_string(42) + std::to_string(-2.5);
  std::string_view v = u;
  v.remove_prefix(3);
  std::printf("%s|%s|%s|%zu %zu %d %zu\n", t.c_str(), l.c_str(), u.c_str(), u.find_first_of("0123456789"), u.rfind('r'),
              t < u, count(v, 'x'));
  std::printf("%d %g %ld %s %d %d\n", std::stoi("-12ab"), std::stod("1.5e2"), std::stol("ff", nullptr, 16),
              std::string("b\0c", 3).substr(1).c_str()[0] ? "y" : "n", s.compare("shore") > 0,
              std::string("abc") == "abc");
  for (auto it = s.rbegin(); it != s.rend(); ++it) std::putchar(*it);
  std::wstring w = L"wide";
  std::u16string z = u"zz";
  std::printf(" %zu %zu\n", w.size(), (z + z).size());
  return 0;
}
