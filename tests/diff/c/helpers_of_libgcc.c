// Every function and variable that GCC's static runtime defines for other code on x86-64 (libgcc.a of GCC 12) exists. Left
// out are names that only GCC's own code refers to: saved registers of Windows' convention, split stacks, decimal numbers.
#include <stdio.h>

#define NAMES(X) \
  X(__absvdi2) X(__absvsi2) X(__absvti2) X(__addtf3) X(__addvdi3) X(__addvsi3) X(__addvti3) X(__ashlti3) \
  X(__ashrti3) X(__bswapdi2) X(__bswapsi2) X(__clear_cache) X(__clrsbdi2) X(__clrsbti2) X(__clzdi2) X(__clzti2) \
  X(__cmpti2) X(__cpu_features2) X(__cpu_indicator_init) X(__cpu_model) X(__ctzdi2) X(__ctzti2) X(__divdc3) \
  X(__divhc3) X(__divmodti4) X(__divsc3) X(__divtc3) X(__divtf3) X(__divti3) X(__divxc3) \
  X(__enable_execute_stack) X(__eqhf2) X(__eqtf2) X(__extenddftf2) X(__extendhfdf2) X(__extendhfsf2) \
  X(__extendhftf2) X(__extendhfxf2) X(__extendsfdf2) X(__extendsftf2) X(__extendxftf2) X(__ffsdi2) X(__ffsti2) \
  X(__fixdfti) X(__fixhfti) X(__fixsfti) X(__fixtfdi) X(__fixtfsi) X(__fixtfti) X(__fixunsdfdi) X(__fixunsdfti) \
  X(__fixunshfti) X(__fixunssfdi) X(__fixunssfti) X(__fixunstfdi) X(__fixunstfsi) X(__fixunstfti) X(__fixunsxfdi) \
  X(__fixunsxfti) X(__fixxfti) X(__floatditf) X(__floatsitf) X(__floattidf) X(__floattihf) X(__floattisf) \
  X(__floattitf) X(__floattixf) X(__floatunditf) X(__floatunsitf) X(__floatuntidf) X(__floatuntihf) \
  X(__floatuntisf) X(__floatuntitf) X(__floatuntixf) X(__getf2) X(__gttf2) X(__letf2) X(__lshrti3) X(__lttf2) \
  X(__modti3) X(__muldc3) X(__mulhc3) X(__mulsc3) X(__multc3) X(__multf3) X(__multi3) X(__mulvdi3) X(__mulvsi3) \
  X(__mulvti3) X(__mulxc3) X(__negtf2) X(__negti2) X(__negvdi2) X(__negvsi2) X(__negvti2) X(__nehf2) X(__netf2) \
  X(__paritydi2) X(__parityti2) X(__popcountdi2) X(__popcountti2) X(__powidf2) X(__powisf2) X(__powitf2) \
  X(__powixf2) X(__subtf3) X(__subvdi3) X(__subvsi3) X(__subvti3) X(__truncdfhf2) X(__truncdfsf2) X(__truncsfhf2) \
  X(__trunctfdf2) X(__trunctfhf2) X(__trunctfsf2) X(__trunctfxf2) X(__truncxfhf2) X(__ucmpti2) X(__udivmodti4) \
  X(__udivti3) X(__umodti3) X(__unordtf2)

#define DECLARE(name) extern char name[];
NAMES(DECLARE)
#define ENTRY(name) {#name, name},
static const struct {
  const char *name;
  const char *address;
} all[] = {NAMES(ENTRY)};

int main(void) {
  int count = 0;
  for (unsigned i = 0; i < sizeof all / sizeof *all; i++)
    if (all[i].address)
      count++;
    else
      printf("%s is missing\n", all[i].name);
  printf("%d\n", count);
}
