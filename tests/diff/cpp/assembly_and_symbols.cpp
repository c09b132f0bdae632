// C++ with assembly outside of functions, a named register, linker-defined symbols and its own, jumps by the compiler's own
// setjmp out of member functions.
// flags: -rdynamic -ldl
#include <cstdio>
#include <cstring>
#include <dlfcn.h>
#include <vector>

asm(".text\n.globl twice_in_assembly\ntwice_in_assembly:\n  leaq (%rdi,%rdi), %rax\n  ret\n");
extern "C" long twice_in_assembly(long);
extern "C" char edata, end, __executable_start;
extern "C" int visible_to_all(int x) { return x - 1; }
namespace space {
int value = 12;
int function(int x) { return x * value; }
} // namespace space

register unsigned long stack_pointer asm("rsp");

struct Jumper {
  void *buffer[5];
  int depth = 0;
  __attribute__((noinline)) void down(int n) {
    depth++;
    if (n == 0)
      __builtin_longjmp(buffer, 1);
    down(n - 1);
  }
  __attribute__((noinline)) int run(int n) {
    if (__builtin_setjmp(buffer))
      return depth;
    down(n);
    return -1;
  }
};

template <typename T> T cpuid_max() {
  T a = 0, b, c, d;
  asm("cpuid" : "+a"(a), "=b"(b), "=c"(c), "=d"(d));
  return a > 0 && b && c && d;
}

int main() {
  std::vector<long> list;
  for (long i = 0; i < 5; i++)
    list.push_back(twice_in_assembly(i));
  long sum = 0;
  for (long x : list)
    sum += x;
  std::printf("%ld %d\n", sum, cpuid_max<int>());
  int total = 0;
  for (int i = 0; i < 50; i++)
    total += Jumper().run(i % 7);
  std::printf("%d %d\n", total, stack_pointer != 0);
  auto own = reinterpret_cast<int (*)(int)>(dlsym(RTLD_DEFAULT, "visible_to_all"));
  auto mangled = reinterpret_cast<int (*)(int)>(dlsym(RTLD_DEFAULT, "_ZN5space8functionEi"));
  auto variable = static_cast<int *>(dlsym(dlopen(nullptr, RTLD_LAZY), "_ZN5space5valueE"));
  std::printf("%d %d %d\n", own(3), mangled(2), variable == &space::value);
  auto next = reinterpret_cast<void *(*)(std::size_t)>(dlsym(RTLD_NEXT, "_Znwm"));
  std::printf("%d\n", next != nullptr);
  Dl_info info;
  std::printf("%d %s\n", dladdr(reinterpret_cast<void *>(space::function), &info), info.dli_sname);
  const char *data = reinterpret_cast<const char *>(&space::value);
  std::printf("%d %d\n", data < &edata, &__executable_start < &end);
}
