/*
 * EP: problem sizes and verification values of classes S, W, A, B and C, as
 * published by NASA for the NAS Parallel Benchmarks 3.x (problems: NAS-91-002,
 * NAS-94-007, NAS-95-020).
 * 2^m pairs; the sums of the accepted deviates in X and Y. Tolerance relative.
 *
 * Read a figure with NPB_PICK(NPB_EP_..._); braces are array initialisers.
 */
#ifndef NPB_REFERENCE_EP_H
#define NPB_REFERENCE_EP_H

#define NPB_EP_TOLERANCE 1e-8

#define NPB_EP_M_S 24
#define NPB_EP_SX_S -3247.83465203474
#define NPB_EP_SY_S -6958.407078382297

#define NPB_EP_M_W 25
#define NPB_EP_SX_W -2863.319731645753
#define NPB_EP_SY_W -6320.053679109499

#define NPB_EP_M_A 28
#define NPB_EP_SX_A -4295.875165629892
#define NPB_EP_SY_A -15807.32573678431

#define NPB_EP_M_B 30
#define NPB_EP_SX_B 40338.15542441498
#define NPB_EP_SY_B -26606.69192809235

#define NPB_EP_M_C 32
#define NPB_EP_SX_C 47643.67927995374
#define NPB_EP_SY_C -80840.72988043731

#endif
