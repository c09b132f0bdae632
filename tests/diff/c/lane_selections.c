// Vector comparisons, selections and shifts by lanes: every predicate, lanes of 32 and 64 bits,
// whole and odd lengths, results that replace an operand, and lanes read one by one.
#include <limits.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

static uint64_t state = 88172645463325252u;

static uint64_t next(void) {
  state ^= state << 13;
  state ^= state >> 7;
  state ^= state << 17;
  return state;
}

static double some_double(void) {
  static const double special[] = {0.0, -0.0, 1.0, -1.0, 2.5, INFINITY, -INFINITY, NAN};
  return special[next() % 8];
}

static int64_t some_int(int bits) {
  static const int64_t special[] = {0, 1, -1, 2, INT_MAX, INT_MIN, LLONG_MAX, LLONG_MIN};
  int64_t v = special[next() % 8];
  return bits == 32 ? (int32_t)v : v;
}

static uint64_t sum;

static void mix(uint64_t v) { sum = (sum ^ v) * 0x100000001b3u; }

/// Defines a check of one vector type. `MAKE` makes a lane, `BITS` is an integer of its size.
#define CHECK_OF(NAME, LANE, N, BITS, MAKE)                                                        \
  typedef LANE NAME __attribute__((ext_vector_type(N)));                                           \
  typedef BITS NAME##_mask __attribute__((ext_vector_type(N)));                                    \
  static void mix_##NAME(NAME v) {                                                                 \
    for (int i = 0; i < N; i++) {                                                                  \
      LANE lane = v[i];                                                                            \
      BITS bits = 0;                                                                               \
      memcpy(&bits, &lane, sizeof lane);                                                           \
      mix(lane != lane ? 7 : (uint64_t)bits);                                                      \
    }                                                                                              \
  }                                                                                                \
  __attribute__((noinline)) static void check_##NAME(void) {                                       \
    NAME a, b, c;                                                                                  \
    for (int round = 0; round < 40; round++) {                                                     \
      for (int i = 0; i < N; i++) {                                                                \
        a[i] = MAKE;                                                                               \
        b[i] = MAKE;                                                                               \
        c[i] = MAKE;                                                                               \
      }                                                                                            \
      mix_##NAME(a < b ? a : b);                                                                   \
      mix_##NAME(a <= b ? b : c);                                                                  \
      mix_##NAME(a > b ? c : a);                                                                   \
      mix_##NAME(a >= b ? c : b);                                                                  \
      mix_##NAME(a == b ? a : c);                                                                  \
      mix_##NAME(a != b ? a : c);                                                                  \
      NAME_MASKS(NAME, N)                                                                          \
      for (int i = 0; i < 5; i++) {                                                                \
        a = a < c ? c : a;                                                                         \
        c = b != a ? b : c;                                                                        \
      }                                                                                            \
      mix_##NAME(a);                                                                               \
      mix_##NAME(c);                                                                               \
    }                                                                                              \
    printf(#NAME " %016llx\n", (unsigned long long)sum);                                           \
  }

#define NAME_MASKS(NAME, N)                                                                        \
  NAME##_mask m = (a < b) & ~(a == c);                                                             \
  for (int i = 0; i < N; i++)                                                                      \
    mix(m[i] != 0);                                                                                \
  mix(m[round % N] & 1);

CHECK_OF(double2, double, 2, int64_t, some_double())
CHECK_OF(double3, double, 3, int64_t, some_double())
CHECK_OF(double4, double, 4, int64_t, some_double())
CHECK_OF(double8, double, 8, int64_t, some_double())
CHECK_OF(float2, float, 2, int32_t, (float)some_double())
CHECK_OF(float4, float, 4, int32_t, (float)some_double())
CHECK_OF(float5, float, 5, int32_t, (float)some_double())
CHECK_OF(float8, float, 8, int32_t, (float)some_double())
CHECK_OF(float16, float, 16, int32_t, (float)some_double())
CHECK_OF(long2, int64_t, 2, int64_t, some_int(64))
CHECK_OF(long3, int64_t, 3, int64_t, some_int(64))
CHECK_OF(long4, int64_t, 4, int64_t, some_int(64))
CHECK_OF(long8, int64_t, 8, int64_t, some_int(64))
CHECK_OF(int2, int32_t, 2, int32_t, (int32_t)some_int(32))
CHECK_OF(int3, int32_t, 3, int32_t, (int32_t)some_int(32))
CHECK_OF(int4, int32_t, 4, int32_t, (int32_t)some_int(32))
CHECK_OF(int6, int32_t, 6, int32_t, (int32_t)some_int(32))
CHECK_OF(int8, int32_t, 8, int32_t, (int32_t)some_int(32))
CHECK_OF(int16, int32_t, 16, int32_t, (int32_t)some_int(32))
CHECK_OF(unsigned4, uint32_t, 4, int32_t, (uint32_t)next())
CHECK_OF(unsigned_long4, uint64_t, 4, int64_t, next())
CHECK_OF(short8, int16_t, 8, int16_t, (int16_t)next())
CHECK_OF(char16, char, 16, char, (char)next())

/// Every predicate of floats with a NaN on either side.
__attribute__((noinline)) static void predicates(void) {
  for (int round = 0; round < 60; round++) {
    double4 a, b;
    for (int i = 0; i < 4; i++) {
      a[i] = some_double();
      b[i] = some_double();
    }
    double4 one = 1, two = 2;
    mix_double4(!(a < b) ? one : two);
    mix_double4(!(a <= b) ? one : two);
    mix_double4(!(a > b) ? one : two);
    mix_double4(!(a == b) ? one : two);
    mix_double4((a < b) | (a > b) ? one : two);
    mix_double4(!((a < b) | (a > b)) ? one : two);
    mix_double4((a == a) & (b == b) ? one : two);
    mix_double4((a != a) | (b != b) ? one : two);
  }
  printf("predicates %016llx\n", (unsigned long long)sum);
}

__attribute__((noinline)) static void shifts(void) {
  for (int round = 0; round < 40; round++) {
    long4 a, n;
    int8 b, m;
    int3 c, k;
    for (int i = 0; i < 4; i++) {
      a[i] = (int64_t)next();
      n[i] = (int64_t)(next() % 64);
    }
    for (int i = 0; i < 8; i++) {
      b[i] = (int32_t)next();
      m[i] = (int32_t)(next() % 32);
    }
    c = b.s012;
    k = m.s345;
    unsigned_long4 ua = __builtin_bit_cast(unsigned_long4, a);
    unsigned_long4 un = __builtin_bit_cast(unsigned_long4, n);
    mix_unsigned_long4(ua << un);
    mix_unsigned_long4(ua >> un);
    mix_long4(a >> n);
    mix_int8(b >> m);
    mix_int8(b >> 5);
    b = (b & 0xffff) << (m & 7);
    mix_int8(b);
    mix_int3((c & 0xff) << (k & 15));
    mix_int3(c >> k);
  }
  printf("shifts %016llx\n", (unsigned long long)sum);
}

int main(void) {
  check_double2();
  check_double3();
  check_double4();
  check_double8();
  check_float2();
  check_float4();
  check_float5();
  check_float8();
  check_float16();
  check_long2();
  check_long3();
  check_long4();
  check_long8();
  check_int2();
  check_int3();
  check_int4();
  check_int6();
  check_int8();
  check_int16();
  check_unsigned4();
  check_unsigned_long4();
  check_short8();
  check_char16();
  predicates();
  shifts();
}
