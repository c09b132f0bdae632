// Calls through a null function pointer.
// levels: O0 O2
// signal: 11
// stderr-has: null_call.c:7
void (*volatile nothing)(void);
int main(void) {
  nothing();
  return 0;
}
