// A vector of 512 bits passed in a register through a function pointer.
// levels: O0 O2
// flags: -mavx512f
// exit: 125
// stderr-has: a vector of 512 bits
// stderr-has: wide_vector_call.c:11
typedef double v8 __attribute__((vector_size(64)));
static v8 twice(v8 x) { return x + x; }
v8 (*volatile pointer)(v8) = twice;
int main(void) {
  return (int)pointer((v8){1, 2, 3, 4})[0] != 2;
}
