// throw; without an exception in flight terminates.
// levels: O0 O2
// signal: 6
// stderr-has: terminate
int main() { throw; }
