// flags: -std=c++20
// Function and class templates, specialization, non-type parameters, variadics, fold expressions, SFINAE, concepts.
#include <concepts>
#include <cstdio>
#include <type_traits>
template <class T> T mx(T a, T b) { return a < b ? b : a; }
template <unsigned N> struct Fact {
  static constexpr unsigned long v = N * Fact<N - 1>::v;
};
template <> struct Fact<0> {
  static constexpr unsigned long v = 1;
};
template <class... A> auto sum(A... a) { return (a + ... + 0); }
template <class... A> void show(const A &...a) { ((std::printf("%g,", double(a))), ...); }
template <class T> constexpr int kind() {
  if constexpr (std::is_pointer_v<T>)
    return 1;
  else if constexpr (std::is_integral_v<T>)
    return 2;
  else
    return 3;
}
template <class T>
concept Big = sizeof(T) > 4;
template <Big T> int pick(T) { return 8; }
template <class T> int pick(T) { return 4; }
template <template <class> class C, class T> int tt(C<T> c) { return c.v; }
template <class T> struct Box {
  T v;
};
template <class T, int N> struct Arr {
  T d[N];
  constexpr int size() const { return N; }
  T &operator[](int i) { return d[i]; }
};
template <class T> struct Arr<T, 0> {
  constexpr int size() const { return -1; }
};
int main() {
  Arr<int, 3> a{{1, 2, 3}};
  Arr<char, 0> z;
  a[1] = mx(7, 5);
  std::printf("%d %g %lu %d %d %d %d %d %d %d %d\n", a[1], mx(1.5, 2.5), Fact<12>::v, sum(1, 2, 3), sum(),
              kind<int *>(), kind<long>(), kind<float>(), pick(1) + pick(1l), tt(Box<int>{6}), a.size() + z.size());
  show(1, 2.5f, 'a', 4ull);
  std::puts("");
  return 0;
}
