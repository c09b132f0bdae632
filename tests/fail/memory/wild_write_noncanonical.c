// Writes to a non-canonical address, for which the processor reports no fault address.
// levels: O0 O2
// signal: 11
// stderr-has: wild_write_noncanonical.c:7
volatile unsigned long address = 0xdeadbeefdeadbeeful;
int main(void) {
  *(volatile long *)address = 1;
  return 0;
}
