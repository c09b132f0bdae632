// OpenMP 5.2, section 5.8.3: unions, bit fields and packed structures are mapped as bytes.
#include "../../check.h"
union u { float f; unsigned bits; };
struct fields { unsigned a : 3, b : 13, c : 16; };
struct __attribute__((packed)) odd { char c; int i; short s; };
int main(void) {
  union u u = {.f = 1.0f};
  struct fields f = {5, 1000, 60000};
  struct odd o[3] = {{1, 2, 3}, {4, 5, 6}, {7, 8, 9}};
  unsigned bits = 0;
#pragma omp target map(tofrom : u, f, o) map(from : bits)
  {
    bits = u.bits;
    u.f = 2.0f;
    f.b += f.a;
    f.c -= 1;
    for (int k = 0; k < 3; k++) o[k].i += o[k].c * 100 + o[k].s;
  }
  CHECK(bits == 0x3f800000 && u.bits == 0x40000000);
  CHECK(f.a == 5 && f.b == 1005 && f.c == 59999);
  CHECK(o[0].i == 105 && o[1].i == 411 && o[2].i == 717 && o[2].s == 9);
  return DONE();
}
