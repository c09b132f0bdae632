// __builtin_cpu_supports and __builtin_cpu_is: the processor's features, including those beyond the first 32.
#include <stdio.h>

#define ASK(name) printf("%s %d\n", name, !!__builtin_cpu_supports(name))

static int before_main = -1;
__attribute__((constructor)) static void early(void) {
  __builtin_cpu_init();
  before_main = !!__builtin_cpu_supports("sse2");
}

__attribute__((target("avx2"))) static int pick_wide(int x) { return x + 1; }
static int pick_plain(int x) { return x + 1; }

int main(void) {
  ASK("mmx");
  ASK("popcnt");
  ASK("sse4.2");
  ASK("avx");
  ASK("avx2");
  ASK("avx512f");
  ASK("avx512vl");
  ASK("avx512vbmi2");
  ASK("gfni");
  ASK("vpclmulqdq");
  ASK("avx512vnni");
  ASK("avx512bf16");
  ASK("adx");
  ASK("f16c");
  ASK("fsgsbase");
  ASK("lzcnt");
  ASK("movbe");
  ASK("rdrnd");
  ASK("rdseed");
  ASK("sha");
  ASK("vaes");
  ASK("xsave");
  ASK("xsavec");
  ASK("amx-tile");
  ASK("x86-64");
  ASK("x86-64-v2");
  ASK("x86-64-v3");
  ASK("x86-64-v4");
  printf("%d %d\n", before_main, __builtin_cpu_is("intel") + __builtin_cpu_is("amd") <= 1);
  printf("%d\n", __builtin_cpu_supports("avx2") ? pick_wide(4) : pick_plain(4));
}
