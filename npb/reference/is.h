/*
 * IS: problem sizes and verification values of classes S, W, A, B and C, as
 * published by NASA for the NAS Parallel Benchmarks 3.x (problems: NAS-91-002,
 * NAS-94-007, NAS-95-020).
 * Ranks are compared for equality. The rank of watched key i in iteration k
 * must be TEST_RANK[i] + TEST_SLOPE[i] * (k + TEST_SHIFT[i]): in iteration k
 * one key is set to k and one to the largest key less k, which moves the ranks
 * of the low keys up and of the high keys down by one each time.
 *
 * Read a figure with NPB_PICK(NPB_IS_..._); braces are array initialisers.
 */
#ifndef NPB_REFERENCE_IS_H
#define NPB_REFERENCE_IS_H

#define NPB_IS_LOG2_KEYS_S 16
#define NPB_IS_LOG2_MAX_KEY_S 11
#define NPB_IS_ITERATIONS_S 10
#define NPB_IS_TEST_INDEX_S { 48427, 17148, 23627, 62548, 4431 }
#define NPB_IS_TEST_RANK_S { 0, 18, 346, 64917, 65463 }
#define NPB_IS_TEST_SLOPE_S { 1, 1, 1, -1, -1 }
#define NPB_IS_TEST_SHIFT_S { 0, 0, 0, 0, 0 }

#define NPB_IS_LOG2_KEYS_W 20
#define NPB_IS_LOG2_MAX_KEY_W 16
#define NPB_IS_ITERATIONS_W 10
#define NPB_IS_TEST_INDEX_W { 357773, 934767, 875723, 898999, 404505 }
#define NPB_IS_TEST_RANK_W { 1249, 11698, 1039987, 1043896, 1048018 }
#define NPB_IS_TEST_SLOPE_W { 1, 1, -1, -1, -1 }
#define NPB_IS_TEST_SHIFT_W { -2, -2, 0, 0, 0 }

#define NPB_IS_LOG2_KEYS_A 23
#define NPB_IS_LOG2_MAX_KEY_A 19
#define NPB_IS_ITERATIONS_A 10
#define NPB_IS_TEST_INDEX_A { 2112377, 662041, 5336171, 3642833, 4250760 }
#define NPB_IS_TEST_RANK_A { 104, 17523, 123928, 8288932, 8388264 }
#define NPB_IS_TEST_SLOPE_A { 1, 1, 1, -1, -1 }
#define NPB_IS_TEST_SHIFT_A { -1, -1, -1, -1, -1 }

#define NPB_IS_LOG2_KEYS_B 25
#define NPB_IS_LOG2_MAX_KEY_B 21
#define NPB_IS_ITERATIONS_B 10
#define NPB_IS_TEST_INDEX_B { 41869, 812306, 5102857, 18232239, 26860214 }
#define NPB_IS_TEST_RANK_B { 33422937, 10244, 59149, 33135281, 99 }
#define NPB_IS_TEST_SLOPE_B { -1, 1, 1, -1, 1 }
#define NPB_IS_TEST_SHIFT_B { 0, 0, 0, 0, 0 }

#define NPB_IS_LOG2_KEYS_C 27
#define NPB_IS_LOG2_MAX_KEY_C 23
#define NPB_IS_ITERATIONS_C 10
#define NPB_IS_TEST_INDEX_C { \
    44172927, \
    72999161, \
    74326391, \
    129606274, \
    21736814 }
#define NPB_IS_TEST_RANK_C { 61147, 882988, 266290, 133997595, 133525895 }
#define NPB_IS_TEST_SLOPE_C { 1, 1, 1, -1, -1 }
#define NPB_IS_TEST_SHIFT_C { 0, 0, 0, 0, 0 }

#endif
