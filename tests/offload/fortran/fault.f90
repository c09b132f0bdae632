! A fault names the line of the access and the region.
! signal: 6
! stderr-has: fault.f90:11
! stderr-has: in the target region at
! stderr-has: fault.f90:10
program fault
  implicit none
  integer :: a(10), i
  i = 1000
  !$omp target map(tofrom: a) map(to: i)
  a(i) = 1
  !$omp end target
  print *, a(1)
end program fault
