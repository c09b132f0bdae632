// Calls through a null function pointer.
// signal: 11
// stderr-has: null_call.c:6
void (*volatile nothing)(void);
int main(void) {
  nothing();
  return 0;
}
