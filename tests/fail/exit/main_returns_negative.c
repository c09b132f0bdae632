// Main's value modulo 256 is the exit status.
// exit: 255
int main(void) { return -1; }
