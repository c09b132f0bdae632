! Sections, single with copyprivate, masked, workshare.
program sections_single
  implicit none
  integer :: a, b, c, d, e, seen(4), v(20)
  a = 0; b = 0; c = 0; e = 0; seen = 0
  !$omp parallel num_threads(3) private(d)
  !$omp sections
  !$omp section
  a = 11
  !$omp section
  b = 22
  !$omp section
  c = 33
  !$omp end sections
  !$omp single
  d = a + b + c
  !$omp end single copyprivate(d)
  !$omp atomic
  e = e + d
  !$omp barrier
  !$omp master
  seen(1) = e
  !$omp end master
  !$omp end parallel
  !$omp parallel workshare
  v = 3
  v(2:10) = v(2:10) * 2
  !$omp end parallel workshare
  print *, a, b, c, seen(1), sum(v)
end program sections_single
