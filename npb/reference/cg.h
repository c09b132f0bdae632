/*
 * CG: problem sizes and verification values of classes S, W, A, B and C, as
 * published by NASA for the NAS Parallel Benchmarks 3.x (problems: NAS-91-002,
 * NAS-94-007, NAS-95-020).
 * Order, nonzeros per generated vector, shift, eigenvalue. Tolerance relative.
 *
 * Read a figure with NPB_PICK(NPB_CG_..._); braces are array initialisers.
 */
#ifndef NPB_REFERENCE_CG_H
#define NPB_REFERENCE_CG_H

#define NPB_CG_TOLERANCE 1e-10

#define NPB_CG_NA_S 1400
#define NPB_CG_NONZER_S 7
#define NPB_CG_ITERATIONS_S 15
#define NPB_CG_SHIFT_S 10.0
#define NPB_CG_RCOND_S 0.1
#define NPB_CG_ZETA_S 8.5971775078648

#define NPB_CG_NA_W 7000
#define NPB_CG_NONZER_W 8
#define NPB_CG_ITERATIONS_W 15
#define NPB_CG_SHIFT_W 12.0
#define NPB_CG_RCOND_W 0.1
#define NPB_CG_ZETA_W 10.362595087124

#define NPB_CG_NA_A 14000
#define NPB_CG_NONZER_A 11
#define NPB_CG_ITERATIONS_A 15
#define NPB_CG_SHIFT_A 20.0
#define NPB_CG_RCOND_A 0.1
#define NPB_CG_ZETA_A 17.130235054029

#define NPB_CG_NA_B 75000
#define NPB_CG_NONZER_B 13
#define NPB_CG_ITERATIONS_B 75
#define NPB_CG_SHIFT_B 60.0
#define NPB_CG_RCOND_B 0.1
#define NPB_CG_ZETA_B 22.712745482631

#define NPB_CG_NA_C 150000
#define NPB_CG_NONZER_C 15
#define NPB_CG_ITERATIONS_C 75
#define NPB_CG_SHIFT_C 110.0
#define NPB_CG_RCOND_C 0.1
#define NPB_CG_ZETA_C 28.973605592845

#endif
