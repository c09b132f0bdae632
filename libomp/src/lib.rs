//! ompvm's OpenMP runtime as a shared library with libomp's C ABI.
