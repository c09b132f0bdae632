// Writes into a string literal, which lies in memory without write permission.
// levels: O0 O2
// signal: 11
// stderr-has: write_to_constant.c:7
const char *volatile text = "constant";
int main(void) {
  *(volatile char *)text = 'C';
  return 0;
}
