// Catching by virtual and ambiguous bases, const qualification, references to pointers, slicing by value.
#include <cstdio>
struct V {
  int v = 1;
};
struct L : virtual V {};
struct R : virtual V {};
struct D : L, R {
  int d = 2;
};
struct X {
  int x = 3;
};
struct Y1 : X {};
struct Y2 : X {};
struct Z : Y1, Y2 {};
struct P : private X {};
int main() {
  int n = 0;
  try {
    throw D();
  } catch (V &v) { n += v.v; }
  try {
    throw Z();
  } catch (X &) { n = -1; } catch (Z &) {
    n += 10;
  }
  try {
    throw P();
  } catch (X &) { n = -1; } catch (P &) {
    n += 100;
  }
  static int k = 5;
  try {
    throw &k;
  } catch (const int *p) { n += *p * 1000; }
  try {
    throw static_cast<const int *>(&k);
  } catch (int *) { n = -1; } catch (const void *) {
    n += 10000;
  }
  try {
    throw static_cast<D *>(nullptr);
  } catch (V *p) { n += p == nullptr ? 100000 : 0; }
  static D d;
  try {
    throw &d;
  } catch (R *r) { n += static_cast<D *>(r)->d * 1000000; }
  std::printf("%d\n", n);
  return 0;
}
