// A fault before main, in a global constructor.
// levels: O0 O2
// signal: 11
// stderr-has: null_in_constructor.c:7
int *volatile nowhere;
__attribute__((constructor)) static void early(void) {
  *nowhere = 1;
}
int main(void) { return 0; }
