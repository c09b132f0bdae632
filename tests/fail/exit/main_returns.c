// Main's value is the exit status.
// levels: O0 O2
// exit: 42
int main(void) { return 42; }
