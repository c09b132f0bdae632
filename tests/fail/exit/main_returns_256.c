// A value of 256 is status 0.
// levels: O0 O2
// exit: 0
int main(void) { return 256; }
