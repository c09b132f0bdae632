// Memoized recursion through std::function and unordered_map, mutual recursion of lambdas, generic visitors over containers.
#include <cstdio>
#include <functional>
#include <map>
#include <string>
#include <unordered_map>
int main() {
  std::unordered_map<long, long> memo;
  std::function<long(long)> col = [&](long n) -> long {
    if (n == 1) return 0;
    auto it = memo.find(n);
    if (it != memo.end()) return it->second;
    long r = 1 + col(n % 2 ? 3 * n + 1 : n / 2);
    return memo[n] = r;
  };
  long best = 0, arg = 0;
  for (long i = 1; i < 300; i++)
    if (col(i) > best) {
      best = col(i);
      arg = i;
    }
  std::function<bool(int)> even, odd;
  even = [&](int n) { return n == 0 || odd(n - 1); };
  odd = [&](int n) { return n != 0 && even(n - 1); };
  std::map<std::string, std::function<double(double, double)>> ops{
      {"+", std::plus<>()}, {"-", std::minus<>()}, {"max", [](double a, double b) { return a < b ? b : a; }}};
  double x = 1;
  for (auto &[k, f] : ops) x = f(x, 2.5) * 1.5;
  std::printf("%ld %ld %d %d %g\n", arg, best, even(200), odd(101), x);
  return 0;
}
