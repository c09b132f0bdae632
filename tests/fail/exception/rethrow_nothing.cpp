// throw; without an exception in flight terminates.
// signal: 6
// stderr-has: terminate
int main() { throw; }
