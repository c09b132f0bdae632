// flags: -std=c++17
// Recursive templates: a tuple and a type list of our own, compile-time strings, index sequences, policy classes.
#include <cstdio>
#include <string>
#include <type_traits>
#include <utility>
template <class...> struct Tup {};
template <class H, class... T> struct Tup<H, T...> : Tup<T...> {
  H h;
  Tup(H h, T... t) : Tup<T...>(t...), h(h) {}
};
template <int I, class H, class... T> auto &get(Tup<H, T...> &t) {
  if constexpr (I == 0)
    return t.h;
  else
    return get<I - 1>(static_cast<Tup<T...> &>(t));
}
template <class T, class... L> constexpr int index_of() {
  int i = 0;
  (void)((std::is_same_v<T, L> ? true : (i++, false)) || ...);
  return i;
}
template <std::size_t... I> int dot(const int *a, const int *b, std::index_sequence<I...>) {
  return ((a[I] * b[I]) + ...);
}
template <class P> struct Acc : P {
  int v = 1;
  Acc &add(int x) {
    v = P::op(v, x);
    return *this;
  }
};
struct Plus {
  static int op(int a, int b) { return a + b; }
};
struct Times {
  static int op(int a, int b) { return a * b; }
};
template <int N> int pw(int x) {
  if constexpr (N == 0)
    return 1;
  else if constexpr (N % 2)
    return x * pw<N - 1>(x);
  else
    return pw<N / 2>(x * x);
}
template <class T> struct name {
  static const char *get() { return "?"; }
};
template <> struct name<int> {
  static const char *get() { return "int"; }
};
template <class T> struct name<T *> {
  static std::string get() { return std::string(name<T>::get()) + "*"; }
};
int main() {
  Tup<int, double, std::string> t(1, 2.5, "three");
  get<0>(t) += 9;
  int a[] = {1, 2, 3, 4}, b[] = {5, 6, 7, 8};
  std::printf("%d %g %s %d %d %d %d %d %s\n", get<0>(t), get<1>(t), get<2>(t).c_str(),
              index_of<long, int, char, long>(), dot(a, b, std::make_index_sequence<4>()), Acc<Plus>().add(4).add(5).v,
              Acc<Times>().add(4).add(5).v, pw<13>(2), name<int **>::get().c_str());
  return 0;
}
