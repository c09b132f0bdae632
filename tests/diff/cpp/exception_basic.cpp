// throw and catch: ints, objects by reference, bases, pointers, ellipsis, order of handlers.
#include <cstdio>
#include <stdexcept>
struct A {
  virtual const char *n() const { return "A"; }
  virtual ~A() {}
};
struct B : A {
  const char *n() const override { return "B"; }
};
static void thr(int k) {
  static B sb;
  switch (k) {
  case 0: throw 42;
  case 1: throw 2.5;
  case 2: throw "text";
  case 3: throw A();
  case 4: throw B();
  case 5: throw &sb;
  case 6: throw std::runtime_error("runtime");
  case 7: throw std::out_of_range("range");
  case 8: throw 'c';
  case 9: throw nullptr;
  case 10: throw 7l;
  }
}
int main() {
  for (int k = 0; k < 12; k++) {
    try {
      thr(k);
      std::printf("none ");
    } catch (int i) { std::printf("int%d ", i); } catch (double d) {
      std::printf("dbl%g ", d);
    } catch (const char *s) { std::printf("str:%s ", s); } catch (A &a) {
      std::printf("A&:%s ", a.n());
    } catch (A *a) { std::printf("A*:%s ", a->n()); } catch (const std::logic_error &e) {
      std::printf("logic:%s ", e.what());
    } catch (const std::exception &e) { std::printf("ex:%s ", e.what()); } catch (...) {
      std::printf("... ");
    }
  }
  std::puts("");
  return 0;
}
