// exit: 3
// flags: -std=c++20
// Raw strings, char8_t, user-defined literals on strings, escapes, adjacent literals, string switch by hash.
#include <cstdio>
#include <cstring>
#include <string>
using namespace std::string_literals;
constexpr unsigned hs(const char *s) {
  unsigned h = 5381;
  while (*s) h = h * 33 + static_cast<unsigned char>(*s++);
  return h;
}
static std::string operator""_up(const char *s, std::size_t n) {
  std::string r(s, n);
  for (char &c : r)
    if (c >= 'a' && c <= 'z') c = static_cast<char>(c - 32);
  return r;
}
static int cmd(const char *s) {
  switch (hs(s)) {
  case hs("start"): return 1;
  case hs("stop"): return 2;
  case hs("status"): return 3;
  default: return 0;
  }
}
int main() {
  const char8_t *u = u8"\u20ac";
  std::printf("%s %s %zu %zu %d%d%d%d %s\n", R"x(raw "quoted" \n)x", "mixed Case"_up.c_str(), ("nul\0in"s).size(),
              std::strlen(reinterpret_cast<const char *>(u)), cmd("start"), cmd("stop"), cmd("status"), cmd("other"),
              "adj"
              "acent"
              "\x41\102");
  return cmd("status");
}
