! Several regions in one file and in a module; the report names each with its location.
! stderr-has: several.f90:25
! stderr-has: several.f90:28
! stderr-has: several.f90:14
! stderr-has: emulated device 0
module work
  implicit none
contains
  subroutine scale(x, n, by)
    integer, intent(in) :: n
    real(8), intent(inout) :: x(n)
    real(8), intent(in) :: by
    integer :: i
    !$omp target teams distribute parallel do map(tofrom: x)
    do i = 1, n
      x(i) = x(i) * by
    end do
  end subroutine scale
end module work
program several
  use work
  implicit none
  integer :: a, i
  real(8) :: x(100), s
  !$omp target map(from: a)
  a = 1
  !$omp end target
  !$omp target map(tofrom: a)
  a = a + 1
  !$omp end target
  x = [(real(i, 8), i = 1, 100)]
  call scale(x, 100, 2d0)
  s = 0
  !$omp target teams distribute parallel do reduction(+: s) map(tofrom: s)
  do i = 1, 100
    s = s + x(i)
  end do
  if (a == 2 .and. abs(s - 10100d0) < 1d-9) then
    print '(a)', 'ok'
  else
    print *, a, s
  end if
end program several
