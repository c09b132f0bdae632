// Reads an address that no mapping holds.
// levels: O0 O2
// signal: 11
// stderr-has: wild_read.c:7
volatile unsigned long address = 0x123456789000ul;
int main(void) {
  return *(volatile char *)address;
}
