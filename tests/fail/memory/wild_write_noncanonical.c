// Writes to a non-canonical address, for which the processor reports no fault address.
// signal: 11
// stderr-has: wild_write_noncanonical.c:6
volatile unsigned long address = 0xdeadbeefdeadbeeful;
int main(void) {
  *(volatile long *)address = 1;
  return 0;
}
