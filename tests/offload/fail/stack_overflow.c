// Endless recursion of a device thread.
// signal: 6
// stderr-has: in the target region at
// stderr-has: stack overflow: a thread has 262144 bytes of stack
int deeper(int n);
#pragma omp declare target(deeper)
int deeper(int n) {
  volatile int room[64];
  room[n % 64] = n;
  if (n == 1 << 30) return 0;
  return deeper(n + 1) + room[(n + 1) % 64];
}
int main(void) {
  int x = 0;
#pragma omp target map(tofrom : x)
  x = deeper(x);
  return x;
}
