// OpenMP 5.2, section 10.1: regions with 1 to 33 captured variables by reference, which every thread reads and one writes.
// stdout: ok
// levels: O0 O2
#include "../../check.h"
#define REGION(n, sum, last) { \
    long s = 0; \
    PRAGMA(omp parallel num_threads(2) reduction(+ : s)) \
    { \
      s += sum; \
      PRAGMA(omp barrier) \
      if (omp_get_thread_num() == 1) last += 1000; \
    } \
    CHECK(s == 2L * (n) * ((n) + 1) / 2 && last == (n) + 1000); \
    last -= 1000; }
#define PRAGMA(...) _Pragma(#__VA_ARGS__)
int main(void) {
  long v0 = 1, v2 = 3, v4 = 5, v6 = 7, v8 = 9, v10 = 11, v12 = 13, v14 = 15, v16 = 17, v18 = 19, v20 = 21, v22 = 23, v24 = 25, v26 = 27, v28 = 29, v30 = 31, v32 = 33;
  short v1 = 2, v3 = 4, v5 = 6, v7 = 8, v9 = 10, v11 = 12, v13 = 14, v15 = 16, v17 = 18, v19 = 20, v21 = 22, v23 = 24, v25 = 26, v27 = 28, v29 = 30, v31 = 32;
  REGION(1, v0, v0)
  REGION(2, v0 + v1, v1)
  REGION(3, v0 + v1 + v2, v2)
  REGION(4, v0 + v1 + v2 + v3, v3)
  REGION(5, v0 + v1 + v2 + v3 + v4, v4)
  REGION(6, v0 + v1 + v2 + v3 + v4 + v5, v5)
  REGION(7, v0 + v1 + v2 + v3 + v4 + v5 + v6, v6)
  REGION(8, v0 + v1 + v2 + v3 + v4 + v5 + v6 + v7, v7)
  REGION(9, v0 + v1 + v2 + v3 + v4 + v5 + v6 + v7 + v8, v8)
  REGION(10, v0 + v1 + v2 + v3 + v4 + v5 + v6 + v7 + v8 + v9, v9)
  REGION(11, v0 + v1 + v2 + v3 + v4 + v5 + v6 + v7 + v8 + v9 + v10, v10)
  REGION(12, v0 + v1 + v2 + v3 + v4 + v5 + v6 + v7 + v8 + v9 + v10 + v11, v11)
  REGION(13, v0 + v1 + v2 + v3 + v4 + v5 + v6 + v7 + v8 + v9 + v10 + v11 + v12, v12)
  REGION(14, v0 + v1 + v2 + v3 + v4 + v5 + v6 + v7 + v8 + v9 + v10 + v11 + v12 + v13, v13)
  REGION(15, v0 + v1 + v2 + v3 + v4 + v5 + v6 + v7 + v8 + v9 + v10 + v11 + v12 + v13 + v14, v14)
  REGION(16, v0 + v1 + v2 + v3 + v4 + v5 + v6 + v7 + v8 + v9 + v10 + v11 + v12 + v13 + v14 + v15, v15)
  REGION(17, v0 + v1 + v2 + v3 + v4 + v5 + v6 + v7 + v8 + v9 + v10 + v11 + v12 + v13 + v14 + v15 + v16, v16)
  REGION(18, v0 + v1 + v2 + v3 + v4 + v5 + v6 + v7 + v8 + v9 + v10 + v11 + v12 + v13 + v14 + v15 + v16 + v17, v17)
  REGION(19, v0 + v1 + v2 + v3 + v4 + v5 + v6 + v7 + v8 + v9 + v10 + v11 + v12 + v13 + v14 + v15 + v16 + v17 + v18, v18)
  REGION(20, v0 + v1 + v2 + v3 + v4 + v5 + v6 + v7 + v8 + v9 + v10 + v11 + v12 + v13 + v14 + v15 + v16 + v17 + v18 + v19, v19)
  REGION(21, v0 + v1 + v2 + v3 + v4 + v5 + v6 + v7 + v8 + v9 + v10 + v11 + v12 + v13 + v14 + v15 + v16 + v17 + v18 + v19 + v20, v20)
  REGION(22, v0 + v1 + v2 + v3 + v4 + v5 + v6 + v7 + v8 + v9 + v10 + v11 + v12 + v13 + v14 + v15 + v16 + v17 + v18 + v19 + v20 + v21, v21)
  REGION(23, v0 + v1 + v2 + v3 + v4 + v5 + v6 + v7 + v8 + v9 + v10 + v11 + v12 + v13 + v14 + v15 + v16 + v17 + v18 + v19 + v20 + v21 + v22, v22)
  REGION(24, v0 + v1 + v2 + v3 + v4 + v5 + v6 + v7 + v8 + v9 + v10 + v11 + v12 + v13 + v14 + v15 + v16 + v17 + v18 + v19 + v20 + v21 + v22 + v23, v23)
  REGION(25, v0 + v1 + v2 + v3 + v4 + v5 + v6 + v7 + v8 + v9 + v10 + v11 + v12 + v13 + v14 + v15 + v16 + v17 + v18 + v19 + v20 + v21 + v22 + v23 + v24, v24)
  REGION(26, v0 + v1 + v2 + v3 + v4 + v5 + v6 + v7 + v8 + v9 + v10 + v11 + v12 + v13 + v14 + v15 + v16 + v17 + v18 + v19 + v20 + v21 + v22 + v23 + v24 + v25, v25)
  REGION(27, v0 + v1 + v2 + v3 + v4 + v5 + v6 + v7 + v8 + v9 + v10 + v11 + v12 + v13 + v14 + v15 + v16 + v17 + v18 + v19 + v20 + v21 + v22 + v23 + v24 + v25 + v26, v26)
  REGION(28, v0 + v1 + v2 + v3 + v4 + v5 + v6 + v7 + v8 + v9 + v10 + v11 + v12 + v13 + v14 + v15 + v16 + v17 + v18 + v19 + v20 + v21 + v22 + v23 + v24 + v25 + v26 + v27, v27)
  REGION(29, v0 + v1 + v2 + v3 + v4 + v5 + v6 + v7 + v8 + v9 + v10 + v11 + v12 + v13 + v14 + v15 + v16 + v17 + v18 + v19 + v20 + v21 + v22 + v23 + v24 + v25 + v26 + v27 + v28, v28)
  REGION(30, v0 + v1 + v2 + v3 + v4 + v5 + v6 + v7 + v8 + v9 + v10 + v11 + v12 + v13 + v14 + v15 + v16 + v17 + v18 + v19 + v20 + v21 + v22 + v23 + v24 + v25 + v26 + v27 + v28 + v29, v29)
  REGION(31, v0 + v1 + v2 + v3 + v4 + v5 + v6 + v7 + v8 + v9 + v10 + v11 + v12 + v13 + v14 + v15 + v16 + v17 + v18 + v19 + v20 + v21 + v22 + v23 + v24 + v25 + v26 + v27 + v28 + v29 + v30, v30)
  REGION(32, v0 + v1 + v2 + v3 + v4 + v5 + v6 + v7 + v8 + v9 + v10 + v11 + v12 + v13 + v14 + v15 + v16 + v17 + v18 + v19 + v20 + v21 + v22 + v23 + v24 + v25 + v26 + v27 + v28 + v29 + v30 + v31, v31)
  REGION(33, v0 + v1 + v2 + v3 + v4 + v5 + v6 + v7 + v8 + v9 + v10 + v11 + v12 + v13 + v14 + v15 + v16 + v17 + v18 + v19 + v20 + v21 + v22 + v23 + v24 + v25 + v26 + v27 + v28 + v29 + v30 + v31 + v32, v32)
  return DONE();
}
