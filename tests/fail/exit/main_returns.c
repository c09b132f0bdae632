// Main's value is the exit status.
// exit: 42
int main(void) { return 42; }
