! Sections of arrays, two dimensions, updates, data regions.
program sections
  implicit none
  integer :: a(100), b(10, 10), i, j, errors
  errors = 0
  a = [(i, i = 1, 100)]
  b = 0
  !$omp target map(tofrom: a(11:20))
  do i = 11, 20
    a(i) = -a(i)
  end do
  !$omp end target
  if (any(a(11:20) /= [(-i, i = 11, 20)]) .or. a(10) /= 10 .or. a(21) /= 21) errors = errors + 1
  !$omp target data map(to: a) map(from: b)
  !$omp target teams distribute parallel do collapse(2)
  do j = 1, 10
    do i = 1, 10
      b(i, j) = a((j - 1) * 10 + i)
    end do
  end do
  a(1:50) = 0
  !$omp target update to(a(1:50))
  !$omp target
  b(1, 1) = a(1) + a(60)
  !$omp end target
  !$omp end target data
  if (b(1, 1) /= 60 .or. b(2, 1) /= 2 .or. b(10, 10) /= 100) errors = errors + 1
  !$omp target enter data map(to: b(:, 3))
  !$omp target map(b(:, 3))
  b(4, 3) = 7
  !$omp end target
  !$omp target exit data map(from: b(:, 3))
  if (b(4, 3) /= 7) errors = errors + 1
  if (errors == 0) then
    print '(a)', 'ok'
  else
    print *, errors, b(1, 1), b(2, 1), b(10, 10), b(4, 3)
  end if
end program sections
