// setjmp in one part and exceptions in another of the same program, longjmp over frames without destructors.
#include <csetjmp>
#include <cstdio>
#include <stdexcept>
static std::jmp_buf jb;
__attribute__((noinline)) static void jump(int k) { std::longjmp(jb, k); }
__attribute__((noinline)) static int both(int k) {
  try {
    if (k & 1) throw std::runtime_error("odd");
    jump(k);
  } catch (const std::exception &e) { return -k; }
  return 0;
}
int main() {
  volatile int n = 0;
  for (volatile int i = 1; i < 6; i++) {
    int r = setjmp(jb);
    if (r == 0) {
      int v = both(i);
      n = n * 10 + v;
      std::printf("threw%d ", v);
    } else {
      n = n * 10 + r;
      std::printf("jumped%d ", r);
    }
  }
  std::printf("%d\n", n);
  return 0;
}
