// Packed and aligned structs, offsets, nested anonymous members, arrays of packed structs.
#include <stdio.h>
#include <stddef.h>
#include <stdint.h>
struct __attribute__((packed)) p {
  char a;
  int b;
  short c;
  double d;
  long long e;
};
struct n {
  char a;
  int b;
  short c;
  double d;
};
struct al {
  char c;
  _Alignas(32) int v;
};
struct an {
  int t;
  union {
    struct {
      int x, y;
    };
    long long q;
  };
};
#pragma pack(push, 2)
struct k2 {
  char a;
  int b;
  char c;
};
#pragma pack(pop)
int main(void) {
  static struct p v[3];
  for (int i = 0; i < 3; i++) {
    v[i].a = (char)i;
    v[i].b = -i * 1000000;
    v[i].c = (short)(i * 77);
    v[i].d = i / 8.0;
    v[i].e = 1ll << (40 + i);
  }
  long long s = 0;
  for (int i = 0; i < 3; i++) s = s * 17 + v[i].a + v[i].b + v[i].c + (long long)(v[i].d * 8) + v[i].e;
  unsigned h = 0;
  for (size_t i = 0; i < sizeof v; i++) h = h * 31 + ((unsigned char *)v)[i];
  struct an u = {1, {{2, 3}}};
  struct al al = {1, 2};
  printf("%zu %zu %zu %zu %zu %zu %zu %lld %u %lld %d %d\n", sizeof(struct p), offsetof(struct p, d), sizeof(struct n),
         offsetof(struct n, d), sizeof(struct al), sizeof(struct k2), offsetof(struct k2, b), s, h, u.q, u.y,
         (int)((uintptr_t)&al % 32));
  return 0;
}
