// A vector of 256 bits passed in a register through a function pointer.
// levels: O0 O2
// flags: -mavx
// exit: 125
// stderr-has: a vector of 256 bits
// stderr-has: wide_vector_call.c:11
typedef double v4 __attribute__((vector_size(32)));
static v4 twice(v4 x) { return x + x; }
v4 (*volatile pointer)(v4) = twice;
int main(void) {
  return (int)pointer((v4){1, 2, 3, 4})[0] != 2;
}
