/*
 * MG: problem sizes and verification values of classes S, W, A, B and C, as
 * published by NASA for the NAS Parallel Benchmarks 3.x (problems: NAS-91-002,
 * NAS-94-007, NAS-95-020).
 * The L2 norm of the residual after the last iteration. Tolerance relative.
 *
 * Read a figure with NPB_PICK(NPB_MG_..._); braces are array initialisers.
 */
#ifndef NPB_REFERENCE_MG_H
#define NPB_REFERENCE_MG_H

#define NPB_MG_TOLERANCE 1e-8

#define NPB_MG_NX_S 32
#define NPB_MG_NY_S 32
#define NPB_MG_NZ_S 32
#define NPB_MG_ITERATIONS_S 4
#define NPB_MG_RESIDUAL_L2_S 5.307707005734e-05

#define NPB_MG_NX_W 128
#define NPB_MG_NY_W 128
#define NPB_MG_NZ_W 128
#define NPB_MG_ITERATIONS_W 4
#define NPB_MG_RESIDUAL_L2_W 6.467329375339e-06

#define NPB_MG_NX_A 256
#define NPB_MG_NY_A 256
#define NPB_MG_NZ_A 256
#define NPB_MG_ITERATIONS_A 4
#define NPB_MG_RESIDUAL_L2_A 2.433365309069e-06

#define NPB_MG_NX_B 256
#define NPB_MG_NY_B 256
#define NPB_MG_NZ_B 256
#define NPB_MG_ITERATIONS_B 20
#define NPB_MG_RESIDUAL_L2_B 1.800564401355e-06

#define NPB_MG_NX_C 512
#define NPB_MG_NY_C 512
#define NPB_MG_NZ_C 512
#define NPB_MG_ITERATIONS_C 20
#define NPB_MG_RESIDUAL_L2_C 5.70673228574e-07

#endif
