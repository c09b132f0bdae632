// A large array is overrun in a loop that runs long enough to be compiled and entered in the middle.
// levels: O0 O2
// flags: -fstack-protector-strong
// signal: 6
// stderr-has: stack smashing detected
volatile long many = 3000000, end = 5000;
__attribute__((noinline)) static long work(void) {
  long area[5000];
  long sum = 0;
  for (long i = 0; i < many; i++) {
    ((volatile long *)area)[i % 5000] = i;
    sum += i;
  }
  for (long i = 0; i < end; i++) ((volatile long *)area)[i] = i;
  return sum + area[17];
}
int main(void) {
  work();
  end = 5040;
  return (int)work();
}
