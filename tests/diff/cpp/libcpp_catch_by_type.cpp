// Handlers choose by type when the program was linked with libc++: values, bases, pointers.
// flags: -stdlib=libc++
#include <cstdio>
#include <exception>
#include <stdexcept>
#include <string>

struct Plain {
  int k;
};
struct Left {
  int l = 1;
  virtual ~Left() {}
};
struct Right {
  int r = 2;
  virtual ~Right() {}
};
struct Both : Left, Right {
  int b = 3;
};
struct Root {
  int id = 7;
  virtual ~Root() {}
};
struct Diamond1 : virtual Root {};
struct Diamond2 : virtual Root {};
struct Diamond : Diamond1, Diamond2 {};
struct Twice1 : Root {};
struct Twice2 : Root {};
struct Ambiguous : Twice1, Twice2 {};
class Hidden : Root {};
enum class Colour { red = 4, green };
struct Own : std::runtime_error {
  Own() : std::runtime_error("own") {}
};
template <class T> struct Box {
  T value;
};

static volatile int which;

[[gnu::noinline]] static void thrower(int n) {
  static Both both;
  static int number = 11;
  switch (n) {
  case 0: throw 5;
  case 1: throw 6u;
  case 2: throw "text";
  case 3: throw Plain{8};
  case 4: throw Both();
  case 5: throw Diamond();
  case 6: throw Ambiguous();
  case 7: throw Hidden();
  case 8: throw &both;
  case 9: throw nullptr;
  case 10: throw &number;
  case 11: throw static_cast<const int *>(&number);
  case 12: throw Colour::green;
  case 13: throw Own();
  case 14: throw std::string("a string");
  case 15: throw Box<long>{12};
  case 16: throw &Plain::k;
  case 17: throw &thrower;
  case 18: throw std::logic_error("logic");
  case 19: throw std::exception();
  case 20: throw 2.5;
  case 21: throw 'c';
  default: break;
  }
}

[[gnu::noinline]] static void first(int n) {
  try {
    thrower(n);
    std::puts("nothing");
  } catch (int i) {
    std::printf("int %d\n", i);
  } catch (const Plain &p) {
    std::printf("Plain %d\n", p.k);
  } catch (Right &r) {
    std::printf("Right %d\n", r.r);
  } catch (Right *r) {
    std::printf("Right * %d\n", r ? r->r : -1);
  } catch (const int *p) {
    std::printf("const int * %d\n", p ? *p : -1);
  } catch (const char *text) {
    std::printf("const char * %s\n", text ? text : "null");
  } catch (const std::runtime_error &e) {
    std::printf("runtime_error %s\n", e.what());
  }
}

int main() {
  for (which = 0; which < 23; which = which + 1) {
    try {
      first(which);
    } catch (unsigned u) {
      std::printf("unsigned %u\n", u);
    } catch (Root &r) {
      std::printf("Root %d\n", r.id);
    } catch (Colour c) {
      std::printf("Colour %d\n", static_cast<int>(c));
    } catch (std::string &s) {
      std::printf("string %s\n", s.c_str());
    } catch (Box<int> &) {
      std::puts("the wrong Box");
    } catch (Box<long> &b) {
      std::printf("Box %ld\n", b.value);
    } catch (int Plain::*) {
      std::puts("pointer to member");
    } catch (void (*f)(int)) {
      std::puts(f == thrower ? "function" : "another function");
    } catch (std::exception &e) {
      std::puts(dynamic_cast<std::logic_error *>(&e) ? "logic_error" : "exception");
    } catch (...) {
      std::printf("something, %d\n", which);
    }
  }
}
