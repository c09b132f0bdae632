// CRTP and expression templates for vectors.
#include <cstdio>
template <class E> struct Ex {
  const E &self() const { return static_cast<const E &>(*this); }
  double operator[](int i) const { return self()[i]; }
};
struct Vec : Ex<Vec> {
  double d[8];
  double operator[](int i) const { return d[i]; }
  template <class E> Vec &operator=(const Ex<E> &e) {
    for (int i = 0; i < 8; i++) d[i] = e.self()[i];
    return *this;
  }
};
template <class A, class B> struct Add : Ex<Add<A, B>> {
  const A &a;
  const B &b;
  Add(const A &a, const B &b) : a(a), b(b) {}
  double operator[](int i) const { return a[i] + b[i]; }
};
template <class A> struct Mul : Ex<Mul<A>> {
  const A &a;
  double k;
  Mul(const A &a, double k) : a(a), k(k) {}
  double operator[](int i) const { return a[i] * k; }
};
template <class A, class B> Add<A, B> operator+(const Ex<A> &a, const Ex<B> &b) { return {a.self(), b.self()}; }
template <class A> Mul<A> operator*(const Ex<A> &a, double k) { return {a.self(), k}; }
int main() {
  Vec a, b, c;
  for (int i = 0; i < 8; i++) {
    a.d[i] = i;
    b.d[i] = 0.5 * i - 1;
  }
  c = (a + b) * 2.0 + a * 0.25;
  double s = 0;
  for (int i = 0; i < 8; i++) {
    std::printf("%g ", c[i]);
    s += c[i];
  }
  std::printf("%a\n", s);
  return 0;
}
