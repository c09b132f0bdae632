// exit: 58
// std::function, std::bind, std::invoke, reference_wrapper, bad_function_call.
#include <cstdio>
#include <functional>
#include <map>
#include <string>
#include <vector>
struct S {
  int k;
  int mul(int x) const { return k * x; }
  int operator()(int x) { return k += x; }
};
static int fr(int a, int b) { return a * 10 + b; }
int main() {
  std::map<std::string, std::function<int(int)>> m;
  S s{3};
  using namespace std::placeholders;
  m["lambda"] = [n = 0](int x) mutable { return n += x; };
  m["bind"] = std::bind(fr, _1, 7);
  m["member"] = std::bind(&S::mul, &s, _1);
  m["object"] = s;
  m["ref"] = std::ref(s);
  for (auto &[n, f] : m) {
    int a = f(4), b = f(5);
    std::printf("%s %d %d\n", n.c_str(), a, b);
  }
  std::function<int(int)> e;
  try {
    e(1);
  } catch (const std::bad_function_call &) { std::puts("bad"); }
  auto copy = m["lambda"];
  std::printf("%d %d %d %d %d\n", copy(1), m["lambda"](10), s.k, std::invoke(&S::mul, s, 2), std::invoke(&S::k, s));
  std::vector<std::function<void()>> q;
  int t = 0;
  for (int i = 0; i < 5; i++) q.push_back([&t, i] { t = t * 3 + i; });
  for (auto &f : q) f();
  return t & 127;
}
