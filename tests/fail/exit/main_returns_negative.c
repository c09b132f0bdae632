// Main's value modulo 256 is the exit status.
// levels: O0 O2
// exit: 255
int main(void) { return -1; }
