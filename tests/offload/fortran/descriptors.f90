! Allocatables, pointers, assumed shapes and derived types. Without optimization flang assigns arrays by its runtime, which
! no device has.
! levels: O2
module shapes
  implicit none
  type :: point
    real(8) :: x, y
    integer :: tags(3)
  end type point
contains
  subroutine fill(v, first)
    integer, intent(inout) :: v(:)
    integer, intent(in) :: first
    integer :: i
    !$omp target teams distribute parallel do map(tofrom: v)
    do i = 1, size(v)
      v(i) = first + i
    end do
  end subroutine fill
end module shapes
program descriptors
  use shapes
  implicit none
  integer, allocatable :: a(:), c(:, :)
  integer, pointer :: p(:)
  type(point) :: here, list(4)
  integer :: i, errors
  errors = 0
  allocate (a(50), c(5, 6), p(20))
  call fill(a, 100)
  if (a(1) /= 101 .or. a(50) /= 150) errors = errors + 1
  !$omp target teams distribute parallel do map(from: c)
  do i = 1, 6
    c(:, i) = i
  end do
  if (sum(c) /= 105) errors = errors + 10
  p = 3
  !$omp target map(tofrom: p)
  p(20) = p(1) + 1
  !$omp end target
  if (p(20) /= 4) errors = errors + 100
  here = point(1, 2, [1, 2, 3])
  !$omp target map(tofrom: here)
  here%x = here%y + here%tags(3)
  !$omp end target
  if (here%x /= 5) errors = errors + 1000
  list = here
  !$omp target teams distribute parallel do map(tofrom: list)
  do i = 1, 4
    list(i)%tags = i
  end do
  if (list(4)%tags(2) /= 4 .or. list(1)%x /= 5) errors = errors + 10000
  !$omp target enter data map(to: a)
  !$omp target
  a(7) = 0
  !$omp end target
  !$omp target exit data map(from: a)
  if (a(7) /= 0) errors = errors + 100000
  if (errors == 0) then
    print '(a)', 'ok'
  else
    print *, errors
  end if
end program descriptors
