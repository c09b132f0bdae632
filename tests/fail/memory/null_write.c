// Writes through a null pointer in serial code.
// signal: 11
// stderr-has: null_write.c:6
int *volatile nowhere;
int main(void) {
  *nowhere = 5;
  return 0;
}
