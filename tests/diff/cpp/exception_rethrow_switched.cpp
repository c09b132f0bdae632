// exit: 21
// env: OMPVM_CHAOS=31
// levels: O2
// With this seed a loop is entered whose comparisons with the caught types' selectors precede it.
#include "exception_rethrow_nested.cpp"
