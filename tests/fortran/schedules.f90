! Worksharing loops with every schedule: each element is computed once.
program schedules
  use omp_lib
  implicit none
  integer, parameter :: n = 97
  integer :: i, j, a(n), b(10, 10), last
  a = 0
  call omp_set_schedule(omp_sched_dynamic, 3)
  !$omp parallel
  !$omp do schedule(static)
  do i = 1, n
    a(i) = a(i) + i
  end do
  !$omp end do nowait
  !$omp do schedule(static, 4)
  do i = n, 1, -1
    b(mod(i, 10) + 1, 1) = 0
  end do
  !$omp end do
  !$omp do schedule(dynamic, 5)
  do i = 1, n, 2
    a(i) = a(i) * 3
  end do
  !$omp end do
  !$omp do schedule(guided)
  do i = 1, n
    a(i) = a(i) - 1
  end do
  !$omp end do
  !$omp do schedule(runtime) lastprivate(last)
  do i = 1, n
    last = a(i) + 1
    a(i) = last
  end do
  !$omp end do
  !$omp do collapse(2)
  do i = 1, 10
    do j = 1, 10
      b(j, i) = i * 100 + j
    end do
  end do
  !$omp end do
  !$omp end parallel
  print '(10i6)', a
  print *, last, sum(b), b(3, 7)
end program schedules
