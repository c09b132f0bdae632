// exit: 21
// env: OMPVM_CHAOS=31
// levels: O2
// With this seed a loop is entered whose comparisons with caught types' numbers stand before it.
#include "exception_rethrow_nested.cpp"
