! Loops without iterations in every static form: flang passes the bounds 0 and -1 for them, unsigned.
program no_iterations
  use omp_lib
  implicit none
  integer(4) :: i4, n4
  integer(8) :: i8, n8
  integer(2) :: i2, n2
  integer :: last, count
  n4 = 0
  n8 = 0
  n2 = 0
  if (omp_get_max_threads() > 1000) n4 = 5
  if (omp_get_max_threads() > 1000) n8 = 5
  if (omp_get_max_threads() > 1000) n2 = 5
  call arrays(n4, n8)
  count = 0
  last = 7
  !$omp parallel do lastprivate(last) reduction(+ : count)
  do i4 = 1, n4
    last = i4
    count = count + 1
  end do
  print *, last, count
  !$omp parallel do reduction(+ : count)
  do i2 = 1, n2
    count = count + 1
  end do
  !$omp parallel do reduction(+ : count)
  do i8 = 5, 1 + n8
    count = count + 1
  end do
  !$omp parallel do reduction(+ : count)
  do i4 = 1, 5, n4 - 1
    count = count + 1
  end do
  !$omp parallel do collapse(2) reduction(+ : count)
  do i4 = 1, 4
    do i8 = 1, n8
      count = count + 1
    end do
  end do
  !$omp parallel do simd schedule(static, 3) reduction(+ : count)
  do i4 = 1, n4
    count = count + 1
  end do
  !$omp parallel do schedule(dynamic) reduction(+ : count)
  do i8 = 1, n8
    count = count + 1
  end do
  !$omp parallel do schedule(guided, 2) reduction(+ : count)
  do i4 = 1, n4
    count = count + 1
  end do
  print *, count
contains
  subroutine arrays(n, m)
    integer(4), intent(in) :: n
    integer(8), intent(in) :: m
    integer(4) :: i
    integer(8) :: j
    integer, allocatable :: a(:), b(:)
    allocate (a(n), b(m))
    !$omp parallel do
    do i = 1, n
      a(i) = i
    end do
    !$omp parallel
    !$omp do
    do j = 1, m
      b(j) = 1
    end do
    !$omp end parallel
    print *, size(a), size(b), sum(a)
  end subroutine
end program
