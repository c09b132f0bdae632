// Inline assembly: operand modifiers (b, w, k, q, h, c, n, P, H, a, A), constraints (tied, early clobbers, memory with
// displacements, immediates, symbols, fixed registers, x87, sse, flags), and pushes.
#include <stdint.h>
#include <stdio.h>

static struct {
  int a, b, c;
} near_pair = {1, 2, 3};
int named_in_template = 41;
static const int table[4] = {10, 20, 30, 40};

__attribute__((noinline, used)) int called_by_name(int x) { return x * 3 + 1; }
__attribute__((noinline)) static long by_symbol(long x) { return x + 1000; }

static int numbers[4] = {7, 8, 9, 10};
static long long whole = 0x200000005;

__attribute__((noinline)) static int displaced_store(int seed) {
  static int local[4];
  local[0] = seed;
  __asm__ volatile("movl $5, 4+%0\n\tmovl $6, 8+%0\n\taddl $1, %0" : "+m"(local[0]) : : "memory");
  return local[0] * 100 + local[1] * 10 + local[2];
}

__attribute__((noinline)) static int displaced_load(void) {
  int r;
  __asm__("movl 4+%1, %0\n\taddl 8+%1, %0" : "=&r"(r) : "m"(numbers[0]), "m"(numbers[1]), "m"(numbers[2]));
  return r;
}

__attribute__((noinline)) static uint64_t widths(uint64_t x) {
  uint64_t r = 0;
  uint32_t d;
  uint16_t w;
  uint8_t b;
  __asm__("movb %b1, %0" : "=q"(b) : "q"(x));
  __asm__("movw %w1, %w0" : "=r"(w) : "r"(x));
  __asm__("movl %k1, %k0" : "=r"(d) : "r"(x));
  __asm__("movzbl %h1, %k0" : "=r"(r) : "Q"(x));
  __asm__("leaq (%q1,%q2), %q0" : "=r"(r) : "r"(r), "r"((uint64_t)d + w + b));
  return r;
}

__attribute__((noinline)) static int immediates(void) {
  int a, b, c;
  __asm__("movl %1, %0" : "=r"(a) : "i"(77));
  __asm__("leal %c1(%2), %0" : "=r"(b) : "i"(12), "r"(a));
  __asm__("leal %n1(%2), %0" : "=r"(c) : "i"(5), "r"(a));
  return a * 10000 + b * 100 + c;
}

__attribute__((noinline)) static long symbols(void) {
  long a = 0, r = 0;
  __asm__("movl %c1(%%rip), %k0" : "=r"(a) : "i"(&table[2]));
  __asm__("movl %1, %k0" : "=r"(r) : "m"(table[3]));
  return a * 100 + r;
}

__attribute__((noinline)) static int names(void) {
  int r;
  __asm__ volatile("movl named_in_template(%%rip), %0\n\tincl named_in_template(%%rip)" : "=r"(r) : : "memory");
  return r * 100 + named_in_template;
}

__attribute__((noinline)) static int call_by_name(int x) {
  int r;
  __asm__ volatile("pushq %%rbp\n\tmovq %%rsp, %%rbp\n\tandq $-16, %%rsp\n\tcall called_by_name\n\tmovq %%rbp, %%rsp\n\tpopq %%rbp"
                   : "=a"(r)
                   : "D"(x)
                   : "rcx", "rdx", "rsi", "r8", "r9", "r10", "r11", "memory", "cc");
  return r;
}

__attribute__((noinline)) static long call_by_operand(long x) {
  long r;
  __asm__ volatile("pushq %%rbp\n\tmovq %%rsp, %%rbp\n\tandq $-16, %%rsp\n\tcall %P2\n\tmovq %%rbp, %%rsp\n\tpopq %%rbp"
                   : "=a"(r), "+D"(x)
                   : "i"(by_symbol)
                   : "rcx", "rdx", "rsi", "r8", "r9", "r10", "r11", "memory", "cc");
  return r;
}

__attribute__((noinline)) static long call_by_pointer(long (*f)(long), long x) {
  long r;
  __asm__ volatile("pushq %%rbp\n\tmovq %%rsp, %%rbp\n\tandq $-16, %%rsp\n\tcall *%2\n\tmovq %%rbp, %%rsp\n\tpopq %%rbp"
                   : "=a"(r), "+D"(x)
                   : "r"(f)
                   : "rcx", "rdx", "rsi", "r8", "r9", "r10", "r11", "memory", "cc");
  return r;
}

__attribute__((noinline)) static int flags(unsigned a, unsigned b) {
  int less, equal, parity;
  __asm__("cmpl %4, %3" : "=@ccb"(less), "=@ccz"(equal), "=@ccp"(parity) : "r"(a), "r"(b));
  return less * 100 + equal * 10 + (parity & 1);
}

__attribute__((noinline)) static uint64_t pushed(void) {
  uint64_t f, keep[4] = {1, 2, 3, 4};
  __asm__ volatile("pushfq\n\tpopq %0" : "=r"(f));
  return (f >> 1 & 1) + keep[0] + keep[3];
}

__attribute__((noinline)) static double x87(double a, double b) {
  double r;
  __asm__("fpatan" : "=t"(r) : "0"(b), "u"(a) : "st(1)");
  return r;
}

__attribute__((noinline)) static long double x87_more(long double a) {
  long double root, top;
  __asm__("fsqrt" : "=t"(root) : "0"(a));
  __asm__("fxch" : "=t"(top), "=u"(a) : "0"(root), "1"(a));
  return top * 2 + a;
}

__attribute__((noinline)) static float sse(float a, float b) {
  float r;
  __asm__("movaps %1, %0\n\taddss %2, %0\n\tmulss %3, %0" : "=&x"(r) : "x"(a), "x"(b), "xm"(b));
  return r;
}

__attribute__((noinline)) static uint64_t wide(uint64_t a, uint64_t b, uint64_t *high) {
  uint64_t low;
  __asm__("mulq %3" : "=a"(low), "=d"(*high) : "0"(a), "rm"(b) : "cc");
  return low;
}

__attribute__((noinline)) static int halves(long long *p) {
  int low, high;
  __asm__("movl %2, %0\n\tmovl 4+%2, %1" : "=&r"(low), "=r"(high) : "m"(whole));
  __asm__ volatile("movq $9, %H0" : "=m"(p[0]), "=m"(p[1]));
  return low * 10 + high;
}

__attribute__((noinline)) static int addresses(int *p) {
  int r;
  __asm__("movl %a1, %0" : "=r"(r) : "r"(p + 1), "m"(p[1]));
  return r;
}

__attribute__((noinline)) static int jumps(int x) {
  __asm__ goto("testl %0, %0\n\tjz %l[zero]\n\tjs %l[negative]" : : "r"(x) : "cc" : zero, negative);
  return 1;
zero:
  return 0;
negative:
  return -1;
}

__attribute__((noinline)) static int any(int x) {
  int r;
  __asm__("" : "=g"(r) : "0"(x));
  __asm__("addl %1, %0" : "+r"(r) : "rmi"(4));
  __asm__("" : "+X"(r));
  return r;
}

int main(void) {
  int list[3] = {7, 8, 9};
  long long pair[2] = {0, 0};
  uint64_t high;
  __asm__ volatile("movl $7, %0\n\tmovl $8, 4+%0\n\tmovl $9, 8+%0" : "=m"(near_pair.a), "=m"(near_pair.b), "=m"(near_pair.c));
  printf("%d %d %d\n", near_pair.a, near_pair.b, near_pair.c);
  printf("%d %d\n", displaced_store(3), displaced_load());
  printf("%llx\n", (unsigned long long)widths(0x1122334455667788));
  printf("%d %ld %d\n", immediates(), symbols(), names());
  printf("%d %ld %ld\n", call_by_name(5), call_by_operand(24), call_by_pointer(by_symbol, 50));
  printf("%03d %03d %03d\n", flags(1, 2), flags(2, 2), flags(9, 2));
  printf("%llu\n", (unsigned long long)pushed());
  printf("%.12f %.12Lf %.3f\n", x87(1.0, 2.0), x87_more(2.0L), sse(1.5f, 2.0f));
  printf("%llx", (unsigned long long)wide(0xfedcba9876543210, 0x123456789abcdef, &high));
  printf(" %llx\n", (unsigned long long)high);
  printf("%d", halves(pair));
  printf(" %lld\n", pair[1]);
  printf("%d %d%d%d %d\n", addresses(list), jumps(5), jumps(0), jumps(-5), any(6));
}
