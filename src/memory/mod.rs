//! Guest memory: guest pointers are host pointers.
