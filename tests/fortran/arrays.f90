! Whole-array operations, intrinsics, allocation, pointers, derived types.
module shapes
  implicit none
  type :: point
    real(8) :: x = 1, y = 2
    integer, allocatable :: tags(:)
  end type point
end module shapes

program arrays
  use shapes
  implicit none
  real(8), allocatable :: a(:, :), b(:, :), c(:, :)
  real(8), target :: line(12)
  real(8), pointer :: part(:)
  type(point), allocatable :: list(:)
  integer :: i, j
  allocate (a(3, 4), b(4, 3))
  a = reshape([(real(i, 8), i = 1, 12)], [3, 4])
  b = transpose(a) * 0.5d0
  c = matmul(a, b)
  print *, shape(c), c(2, 3), sum(c, dim=1)
  print *, maxval(a), minloc(a), count(a > 5), any(a > 11), all(a > 0)
  line = [(i * 1d0, i = 12, 1, -1)]
  part => line(2:10:4)
  part = part * 100
  print '(12f7.1)', line
  print *, dot_product(line, line), pack([1, 2, 3, 4], [.true., .false., .true., .false.]), cshift([1, 2, 3], 1)
  allocate (list(3))
  !$omp parallel do private(j)
  do i = 1, 3
    list(i)%x = i * 1.5d0
    allocate (list(i)%tags(i))
    do j = 1, i
      list(i)%tags(j) = i * 10 + j
    end do
  end do
  !$omp end parallel do
  do i = 1, 3
    print *, list(i)%x, list(i)%y, list(i)%tags
  end do
  where (a > 6)
    a = -a
  elsewhere
    a = a + 100
  end where
  print '(4f8.1)', a
  forall (i = 1:3, j = 1:4, i /= j) a(i, j) = 0
  print *, sum(a), norm2(line(1:2)), spread([1, 2], 1, 2)
end program arrays
