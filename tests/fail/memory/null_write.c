// Writes through a null pointer in serial code.
// levels: O0 O2
// signal: 11
// stderr-has: null_write.c:7
int *volatile nowhere;
int main(void) {
  *nowhere = 5;
  return 0;
}
