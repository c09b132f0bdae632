// levels: O0 O2
// std::regex: match, search, iterate, replace (light use).
#include <iostream>
#include <regex>
#include <string>
int main() {
  std::string s = "alice=30; bob=7; carol=123";
  std::regex r("([a-z]+)=(\\d+)");
  int t = 0;
  for (std::sregex_iterator i(s.begin(), s.end(), r), e; i != e; ++i) {
    std::cout << (*i)[1] << ':' << (*i)[2] << ' ';
    t += std::stoi((*i)[2]);
  }
  std::cout << t << ' ' << std::regex_replace(s, r, "$2-$1") << ' '
            << std::regex_match("2024-01-31", std::regex("\\d{4}-\\d\\d-\\d\\d"))
            << std::regex_match("x", std::regex("y?")) << '\n';
  try {
    std::regex bad("(unclosed");
  } catch (const std::regex_error &e) { std::cout << "regex_error\n"; }
  return 0;
}
