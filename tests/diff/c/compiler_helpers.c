// Arithmetic by the functions of the compilers' runtimes, called by their names.
// flags: --rtlib=compiler-rt --unwindlib=libgcc
#include <stdint.h>
#include <stdio.h>

typedef __int128 wide;
typedef unsigned __int128 uwide;

#define LONGS(X) X(__divdi3) X(__moddi3) X(__muldi3)
#define UNSIGNED_LONGS(X) X(__udivdi3) X(__umoddi3)
#define INTS(X) X(__divsi3) X(__modsi3)
#define UNSIGNED_INTS(X) X(__udivsi3) X(__umodsi3)
#define DOUBLES(X) X(__adddf3) X(__subdf3) X(__muldf3) X(__divdf3)
#define FLOATS(X) X(__addsf3) X(__subsf3) X(__mulsf3) X(__divsf3)
#define COMPARE_DOUBLES(X) X(__eqdf2) X(__nedf2) X(__ltdf2) X(__ledf2) X(__gtdf2) X(__gedf2) X(__unorddf2) X(__cmpdf2)
#define COMPARE_FLOATS(X) X(__eqsf2) X(__nesf2) X(__ltsf2) X(__lesf2) X(__gtsf2) X(__gesf2) X(__unordsf2) X(__cmpsf2)
#define COUNT(X) X(__clzsi2) X(__ctzsi2) X(__ffssi2) X(__paritysi2) X(__popcountsi2)
#define WIDE_COUNT(X) X(__clzdi2) X(__ctzdi2) X(__ffsdi2) X(__paritydi2) X(__popcountdi2)
#define SHIFTS(X) X(__ashldi3) X(__ashrdi3) X(__lshrdi3)
#define WIDE_SHIFTS(X) X(__ashlti3) X(__ashrti3) X(__lshrti3)
#define WIDES(X) X(__divti3) X(__modti3) X(__multi3)

#define D2(type) int64_t
#define DECLARE_L(n) int64_t n(int64_t, int64_t);
#define DECLARE_UL(n) uint64_t n(uint64_t, uint64_t);
#define DECLARE_I(n) int n(int, int);
#define DECLARE_UI(n) unsigned n(unsigned, unsigned);
#define DECLARE_D(n) double n(double, double);
#define DECLARE_F(n) float n(float, float);
#define DECLARE_CD(n) long n(double, double);
#define DECLARE_CF(n) long n(float, float);
#define DECLARE_C(n) int n(unsigned);
#define DECLARE_WC(n) int n(uint64_t);
#define DECLARE_S(n) int64_t n(int64_t, int);
#define DECLARE_WS(n) wide n(wide, int);
#define DECLARE_W(n) wide n(wide, wide);
LONGS(DECLARE_L) UNSIGNED_LONGS(DECLARE_UL) INTS(DECLARE_I) UNSIGNED_INTS(DECLARE_UI) DOUBLES(DECLARE_D) FLOATS(DECLARE_F)
COMPARE_DOUBLES(DECLARE_CD) COMPARE_FLOATS(DECLARE_CF) COUNT(DECLARE_C) WIDE_COUNT(DECLARE_WC) SHIFTS(DECLARE_S)
WIDE_SHIFTS(DECLARE_WS) WIDES(DECLARE_W)
int64_t __divmoddi4(int64_t, int64_t, int64_t *), __mulodi4(int64_t, int64_t, int *), __negdi2(int64_t);
int __divmodsi4(int, int, int *), __mulosi4(int, int, int *);
uint64_t __udivmoddi4(uint64_t, uint64_t, uint64_t *);
unsigned __udivmodsi4(unsigned, unsigned, unsigned *);
wide __muloti4(wide, wide, int *);
uwide __udivmodti4(uwide, uwide, uwide *);
int __cmpdi2(int64_t, int64_t), __ucmpdi2(uint64_t, uint64_t), __cmpti2(wide, wide), __ucmpti2(uwide, uwide);
double __negdf2(double), __floatdidf(int64_t), __floatsidf(int), __floatundidf(uint64_t), __floatunsidf(unsigned);
float __negsf2(float), __floatdisf(int64_t), __floatsisf(int), __floatundisf(uint64_t), __floatunsisf(unsigned);
int64_t __fixdfdi(double), __fixsfdi(float), __fixxfdi(long double);
int __fixdfsi(double), __fixsfsi(float);
unsigned __fixunsdfsi(double), __fixunssfsi(float), __fixunsxfsi(long double);
long double __floatdixf(int64_t), __floatundixf(uint64_t);
__float128 __addtf3(__float128, __float128), __multf3(__float128, __float128);
long __cmptf2(__float128, __float128);
double __powidf2(double, int);
_Complex double __muldc3(double, double, double, double), __divdc3(double, double, double, double);
float __extendhfsf2(_Float16);
_Float16 __truncdfhf2(double), __truncsfhf2(float);

static volatile int64_t longs[] = {0, 1, -1, 7, -100, 1234567890123, INT64_MAX, -9007199254740993};
static volatile int ints[] = {0, 1, -1, 7, -100, 123456789, 2147483647};
static volatile double doubles[] = {0.0, -0.0, 1.5, -2.25, 1e10, -3e-5, 1.0 / 0.0, 0.0 / 0.0};
#define SIZE(a) ((int)(sizeof(a) / sizeof *(a)))
static uint64_t sum;
static void add(uint64_t x) { sum = (sum ^ x) * 1099511628211u + (sum >> 29); }
static int sign(long x) { return (x > 0) - (x < 0); }
#define SHOW(what) (printf("%s %016llx\n", what, (unsigned long long)sum), sum = 1469598103934665603u)
static void add_double(double x) {
  union { double d; uint64_t u; } v = {x};
  add(x != x ? 1 : v.u);
}

int main(void) {
  SHOW("start");
  for (int i = 0; i < SIZE(longs); i++)
    for (int j = 0; j < SIZE(longs); j++) {
      int64_t a = longs[i], b = longs[j], rest = 0;
      uint64_t left = 0;
      uwide high = 0;
      int lost = 0;
      if (b != 0 && !(b == -1)) {
#define RUN_L(n) add((uint64_t)n(a, b));
        LONGS(RUN_L) UNSIGNED_LONGS(RUN_L)
        add((uint64_t)__divmoddi4(a, b, &rest) + (uint64_t)rest);
        add(__udivmoddi4((uint64_t)a, (uint64_t)b, &left) + left);
#define RUN_W(n) add((uint64_t)(n((wide)a * 12345678901, (wide)b) >> 3));
        WIDES(RUN_W)
        add((uint64_t)(__udivmodti4((uwide)a << 40, (uwide)(uint64_t)b, &high) + high));
      }
      add((uint64_t)__mulodi4(a, b, &lost) + (unsigned)lost);
      add((uint64_t)__muloti4((wide)a << 50, (wide)b << 20, &lost) + (unsigned)lost);
      add((unsigned)__cmpdi2(a, b) * 4 + (unsigned)__ucmpdi2((uint64_t)a, (uint64_t)b));
      add((unsigned)__cmpti2((wide)a << 64, (wide)b) * 4 + (unsigned)__ucmpti2((uwide)a, (uwide)b));
#define RUN_S(n) add((uint64_t)n(a, (int)(b & 63)));
      SHIFTS(RUN_S)
#define RUN_WS(n) add((uint64_t)(n((wide)a << 30, (int)(b & 127)) >> 11));
      WIDE_SHIFTS(RUN_WS)
    }
  SHOW("longs");
  for (int i = 0; i < SIZE(ints); i++)
    for (int j = 0; j < SIZE(ints); j++) {
      int a = ints[i], b = ints[j], rest = 0, lost = 0;
      unsigned left = 0;
      if (b != 0) {
#define RUN_I(n) add((unsigned)n(a, b));
        INTS(RUN_I) UNSIGNED_INTS(RUN_I)
        add((unsigned)__divmodsi4(a, b, &rest) + (unsigned)rest);
        add(__udivmodsi4((unsigned)a, (unsigned)b, &left) + left);
      }
      add((unsigned)__mulosi4(a, b, &lost) + (unsigned)lost);
#define RUN_C(n) if (a) add((unsigned)n((unsigned)a));
      COUNT(RUN_C)
#define RUN_WC(n) if (a) add((unsigned)n((uint64_t)a << 13));
      WIDE_COUNT(RUN_WC)
    }
  SHOW("ints");
  for (int i = 0; i < SIZE(doubles); i++)
    for (int j = 0; j < SIZE(doubles); j++) {
      double a = doubles[i], b = doubles[j];
      float c = (float)a, d = (float)b;
#define RUN_D(n) add_double(n(a, b));
      DOUBLES(RUN_D)
#define RUN_F(n) add_double(n(c, d));
      FLOATS(RUN_F)
#define RUN_CD(n) printf("%d", sign(n(a, b)));
      COMPARE_DOUBLES(RUN_CD)
#define RUN_CF(n) printf("%d", sign(n(c, d)));
      COMPARE_FLOATS(RUN_CF)
      printf("%d", sign(__cmptf2(a, b)));
      add_double((double)__addtf3(a, b));
      add_double((double)__multf3(a, b));
    }
  puts("");
  SHOW("doubles");
  for (int i = 0; i < SIZE(longs); i++) {
    add((uint64_t)__negdi2(longs[i]));
    add_double(__floatdidf(longs[i]));
    add_double(__floatundidf((uint64_t)longs[i]));
    add_double(__floatdisf(longs[i]));
    add_double(__floatundisf((uint64_t)longs[i]));
    add_double(__floatsidf((int)longs[i]));
    add_double(__floatunsidf((unsigned)longs[i]));
    add_double(__floatsisf((int)longs[i]));
    add_double(__floatunsisf((unsigned)longs[i]));
    printf("%.0Lf %.0Lf %lld\n", __floatdixf(longs[i]), __floatundixf((uint64_t)longs[i]),
           (long long)__fixxfdi((long double)longs[i] / 2));
  }
  for (int i = 0; i < 6; i++) {
    double x = doubles[i] == 1e10 ? 1e9 : doubles[i];
    add_double(__negdf2(x));
    add_double(__negsf2((float)x));
    add((uint64_t)(__fixdfdi(x) + __fixsfdi((float)x) + __fixdfsi(x) + __fixsfsi((float)x)));
    double positive = x < 0 ? -x : x;
    add(__fixunsdfsi(positive) + __fixunssfsi((float)positive) + __fixunsxfsi(positive));
    add_double(__powidf2(x, 3));
    add_double(__extendhfsf2(__truncdfhf2(x)) + __extendhfsf2(__truncsfhf2((float)x)));
  }
  SHOW("conversions");
  _Complex double product = __muldc3(1.5, 2.5, -3.25, 4), quotient = __divdc3(1.5, 2.5, -3.25, 4);
  printf("%.10f %.10f %.10f %.10f\n", __real__ product, __imag__ product, __real__ quotient, __imag__ quotient);
}
