// no-sanitize: typeid of a null pointer
// exit: 6
// flags: -Wno-potentially-evaluated-expression
// dynamic_cast: down, across, to void, failing, bad_cast on references; typeid comparison and names.
#include <cstdio>
#include <typeindex>
#include <typeinfo>
struct A {
  virtual ~A() {}
  int a = 1;
};
struct B {
  virtual ~B() {}
  int b = 2;
};
struct C : A, B {
  int c = 3;
};
struct D : A {};
int main() {
  C c;
  D d;
  A *a = &c, *e = &d;
  B *b = dynamic_cast<B *>(a);
  C *cc = dynamic_cast<C *>(b);
  std::printf("%d %d %d %d %d ", b == &c, cc == &c, dynamic_cast<C *>(e) == nullptr, dynamic_cast<B *>(e) == nullptr,
              dynamic_cast<void *>(b) == &c);
  try {
    (void)dynamic_cast<C &>(*e);
  } catch (const std::bad_cast &) { std::printf("bad_cast "); }
  A *n = nullptr;
  try {
    (void)typeid(*n);
  } catch (const std::bad_typeid &) { std::printf("bad_typeid "); }
  std::printf("%d %d %d %s %s %s %d\n", typeid(*a) == typeid(C), typeid(*a) == typeid(*e), typeid(a) == typeid(e),
              typeid(*a).name(), typeid(int).name(), typeid(D *).name(),
              std::type_index(typeid(*e)) == std::type_index(typeid(D)));
  return dynamic_cast<D *>(e) ? 6 : 7;
}
