// Makes many functions and their tables: the test defines F(N), which defines its functions of the number N. TEN(D) defines
// those of D0 to D9, and A(NAME, D) lists the functions NAMED0 to NAMED9.
#define TEN(D) F(D##0) F(D##1) F(D##2) F(D##3) F(D##4) F(D##5) F(D##6) F(D##7) F(D##8) F(D##9)
#define A(NAME, D)                                                                                 \
  NAME##D##0, NAME##D##1, NAME##D##2, NAME##D##3, NAME##D##4, NAME##D##5, NAME##D##6, NAME##D##7,  \
      NAME##D##8, NAME##D##9
// Ninety of them.
#define NINETY TEN(1) TEN(2) TEN(3) TEN(4) TEN(5) TEN(6) TEN(7) TEN(8) TEN(9)
#define ALL(NAME)                                                                                  \
  A(NAME, 1), A(NAME, 2), A(NAME, 3), A(NAME, 4), A(NAME, 5), A(NAME, 6), A(NAME, 7), A(NAME, 8),  \
      A(NAME, 9)
