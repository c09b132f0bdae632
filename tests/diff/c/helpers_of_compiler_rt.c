// Every function and variable that LLVM's static runtime defines for other code on x86-64 (compiler-rt's builtins) exists.
// flags: --rtlib=compiler-rt --unwindlib=libgcc
#include <stdio.h>

#define NAMES(X) \
  X(__absvdi2) X(__absvsi2) X(__absvti2) X(__adddf3) X(__addsf3) X(__addtf3) X(__addvdi3) X(__addvsi3) \
  X(__addvti3) X(__ashldi3) X(__ashlti3) X(__ashrdi3) X(__ashrti3) X(__bswapdi2) X(__bswapsi2) X(__clear_cache) \
  X(__clzdi2) X(__clzsi2) X(__clzti2) X(__cmpdf2) X(__cmpdi2) X(__cmpsf2) X(__cmptf2) X(__cmpti2) \
  X(__cpu_features2) X(__cpu_indicator_init) X(__cpu_model) X(__ctzdi2) X(__ctzsi2) X(__ctzti2) X(__divdc3) \
  X(__divdf3) X(__divdi3) X(__divmoddi4) X(__divmodsi4) X(__divmodti4) X(__divsc3) X(__divsf3) X(__divsi3) \
  X(__divtc3) X(__divtf3) X(__divti3) X(__divxc3) X(__emutls_get_address) X(__enable_execute_stack) X(__eqdf2) \
  X(__eqsf2) X(__eqtf2) X(__extendbfsf2) X(__extenddftf2) X(__extendhfdf2) X(__extendhfsf2) X(__extendhftf2) \
  X(__extendhfxf2) X(__extendsfdf2) X(__extendsftf2) X(__extendxftf2) X(__ffsdi2) X(__ffssi2) X(__ffsti2) \
  X(__fixdfdi) X(__fixdfsi) X(__fixdfti) X(__fixsfdi) X(__fixsfsi) X(__fixsfti) X(__fixtfdi) X(__fixtfsi) \
  X(__fixtfti) X(__fixunsdfdi) X(__fixunsdfsi) X(__fixunsdfti) X(__fixunssfdi) X(__fixunssfsi) X(__fixunssfti) \
  X(__fixunstfdi) X(__fixunstfsi) X(__fixunstfti) X(__fixunsxfdi) X(__fixunsxfsi) X(__fixunsxfti) X(__fixxfdi) \
  X(__fixxfti) X(__floatdidf) X(__floatdisf) X(__floatditf) X(__floatdixf) X(__floatsidf) X(__floatsisf) \
  X(__floatsitf) X(__floattidf) X(__floattisf) X(__floattitf) X(__floattixf) X(__floatundidf) X(__floatundisf) \
  X(__floatunditf) X(__floatundixf) X(__floatunsidf) X(__floatunsisf) X(__floatunsitf) X(__floatuntidf) \
  X(__floatuntisf) X(__floatuntitf) X(__floatuntixf) X(__gcc_personality_v0) X(__gedf2) X(__gesf2) X(__getf2) \
  X(__gnu_f2h_ieee) X(__gnu_h2f_ieee) X(__gtdf2) X(__gtsf2) X(__gttf2) X(__ledf2) X(__lesf2) X(__letf2) \
  X(__lshrdi3) X(__lshrti3) X(__ltdf2) X(__ltsf2) X(__lttf2) X(__moddi3) X(__modsi3) X(__modti3) X(__muldc3) \
  X(__muldf3) X(__muldi3) X(__mulodi4) X(__mulosi4) X(__muloti4) X(__mulsc3) X(__mulsf3) X(__multc3) X(__multf3) \
  X(__multi3) X(__mulvdi3) X(__mulvsi3) X(__mulvti3) X(__mulxc3) X(__nedf2) X(__negdf2) X(__negdi2) X(__negsf2) \
  X(__negti2) X(__negvdi2) X(__negvsi2) X(__negvti2) X(__nesf2) X(__netf2) X(__paritydi2) X(__paritysi2) \
  X(__parityti2) X(__popcountdi2) X(__popcountsi2) X(__popcountti2) X(__powidf2) X(__powisf2) X(__powitf2) \
  X(__powixf2) X(__subdf3) X(__subsf3) X(__subtf3) X(__subvdi3) X(__subvsi3) X(__subvti3) X(__truncdfbf2) \
  X(__truncdfhf2) X(__truncdfsf2) X(__truncsfbf2) X(__truncsfhf2) X(__trunctfbf2) X(__trunctfdf2) X(__trunctfhf2) \
  X(__trunctfsf2) X(__trunctfxf2) X(__truncxfhf2) X(__ucmpdi2) X(__ucmpti2) X(__udivdi3) X(__udivmoddi4) \
  X(__udivmodsi4) X(__udivmodti4) X(__udivsi3) X(__udivti3) X(__umoddi3) X(__umodsi3) X(__umodti3) X(__unorddf2) \
  X(__unordsf2) X(__unordtf2)

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
