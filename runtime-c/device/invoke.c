/* Call of an outlined function: two pointers to numbers, then one word per captured variable.
 *
 * Calls on a GPU need the exact number of arguments. If the function and the number are constants,
 * as in compilers' output, only one direct call is left after inlining.
 */
#include "device.h"

#define P0(c)
#define P1(c) P0(c), c[0]
#define P2(c) P1(c), c[1]
#define P3(c) P2(c), c[2]
#define P4(c) P3(c), c[3]
#define P5(c) P4(c), c[4]
#define P6(c) P5(c), c[5]
#define P7(c) P6(c), c[6]
#define P8(c) P7(c), c[7]
#define P9(c) P8(c), c[8]
#define P10(c) P9(c), c[9]
#define P11(c) P10(c), c[10]
#define P12(c) P11(c), c[11]
#define P13(c) P12(c), c[12]
#define P14(c) P13(c), c[13]
#define P15(c) P14(c), c[14]
#define P16(c) P15(c), c[15]
#define P17(c) P16(c), c[16]
#define P18(c) P17(c), c[17]
#define P19(c) P18(c), c[18]
#define P20(c) P19(c), c[19]
#define P21(c) P20(c), c[20]
#define P22(c) P21(c), c[21]
#define P23(c) P22(c), c[22]
#define P24(c) P23(c), c[23]
#define P25(c) P24(c), c[24]
#define P26(c) P25(c), c[25]
#define P27(c) P26(c), c[26]
#define P28(c) P27(c), c[27]
#define P29(c) P28(c), c[28]
#define P30(c) P29(c), c[29]
#define P31(c) P30(c), c[30]
#define P32(c) P31(c), c[31]
#define P33(c) P32(c), c[32]
#define P34(c) P33(c), c[33]
#define P35(c) P34(c), c[34]
#define P36(c) P35(c), c[35]
#define P37(c) P36(c), c[36]
#define P38(c) P37(c), c[37]
#define P39(c) P38(c), c[38]
#define P40(c) P39(c), c[39]
#define P41(c) P40(c), c[40]
#define P42(c) P41(c), c[41]
#define P43(c) P42(c), c[42]
#define P44(c) P43(c), c[43]
#define P45(c) P44(c), c[44]
#define P46(c) P45(c), c[45]
#define P47(c) P46(c), c[46]
#define P48(c) P47(c), c[47]
#define P49(c) P48(c), c[48]
#define P50(c) P49(c), c[49]
#define P51(c) P50(c), c[50]
#define P52(c) P51(c), c[51]
#define P53(c) P52(c), c[52]
#define P54(c) P53(c), c[53]
#define P55(c) P54(c), c[54]
#define P56(c) P55(c), c[55]
#define P57(c) P56(c), c[56]
#define P58(c) P57(c), c[57]
#define P59(c) P58(c), c[58]
#define P60(c) P59(c), c[59]
#define P61(c) P60(c), c[60]
#define P62(c) P61(c), c[61]
#define P63(c) P62(c), c[62]
#define P64(c) P63(c), c[63]
#define T0
#define T1 T0, void *
#define T2 T1, void *
#define T3 T2, void *
#define T4 T3, void *
#define T5 T4, void *
#define T6 T5, void *
#define T7 T6, void *
#define T8 T7, void *
#define T9 T8, void *
#define T10 T9, void *
#define T11 T10, void *
#define T12 T11, void *
#define T13 T12, void *
#define T14 T13, void *
#define T15 T14, void *
#define T16 T15, void *
#define T17 T16, void *
#define T18 T17, void *
#define T19 T18, void *
#define T20 T19, void *
#define T21 T20, void *
#define T22 T21, void *
#define T23 T22, void *
#define T24 T23, void *
#define T25 T24, void *
#define T26 T25, void *
#define T27 T26, void *
#define T28 T27, void *
#define T29 T28, void *
#define T30 T29, void *
#define T31 T30, void *
#define T32 T31, void *
#define T33 T32, void *
#define T34 T33, void *
#define T35 T34, void *
#define T36 T35, void *
#define T37 T36, void *
#define T38 T37, void *
#define T39 T38, void *
#define T40 T39, void *
#define T41 T40, void *
#define T42 T41, void *
#define T43 T42, void *
#define T44 T43, void *
#define T45 T44, void *
#define T46 T45, void *
#define T47 T46, void *
#define T48 T47, void *
#define T49 T48, void *
#define T50 T49, void *
#define T51 T50, void *
#define T52 T51, void *
#define T53 T52, void *
#define T54 T53, void *
#define T55 T54, void *
#define T56 T55, void *
#define T57 T56, void *
#define T58 T57, void *
#define T59 T58, void *
#define T60 T59, void *
#define T61 T60, void *
#define T62 T61, void *
#define T63 T62, void *
#define T64 T63, void *
#define CASE(n)                                                                                    \
  case n:                                                                                          \
    ((void (*)(int32_t *, int32_t *T##n))function)(&number, &zero P##n(captured));                 \
    break;
#define CASES(a, b, c, d) CASE(a) CASE(b) CASE(c) CASE(d)

INLINE void invoke(void *function, void **captured, int64_t count, uint32_t thread) {
  int32_t number = (int32_t)thread, zero = 0;
  switch (count) {
    CASE(0)
    CASES(1, 2, 3, 4)
    CASES(5, 6, 7, 8)
    CASES(9, 10, 11, 12)
    CASES(13, 14, 15, 16)
    CASES(17, 18, 19, 20)
    CASES(21, 22, 23, 24)
    CASES(25, 26, 27, 28)
    CASES(29, 30, 31, 32)
    CASES(33, 34, 35, 36)
    CASES(37, 38, 39, 40)
    CASES(41, 42, 43, 44)
    CASES(45, 46, 47, 48)
    CASES(49, 50, 51, 52)
    CASES(53, 54, 55, 56)
    CASES(57, 58, 59, 60)
    CASES(61, 62, 63, 64)
  default:
    __builtin_trap();
  }
}
