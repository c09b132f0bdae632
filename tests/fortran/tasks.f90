! OpenMP 5.2, chapter 12: tasks, dependences, taskloop, taskgroup and reductions in Fortran.
program tasks
  use omp_lib
  implicit none
  integer :: i, total, order, v(100), bad
  integer(8) :: f
  total = 0
  order = 0
  bad = 0
  v = 0
  !$omp parallel
  !$omp single
  call fib(15, f)
  do i = 1, 20
    !$omp task shared(order, bad) firstprivate(i) depend(inout: order)
    if (order /= i - 1) bad = bad + 1
    order = i
    !$omp end task
  end do
  !$omp taskgroup
  do i = 1, 50
    !$omp task shared(total) firstprivate(i)
    !$omp atomic
    total = total + i
    !$omp end task
  end do
  !$omp end taskgroup
  if (total /= 1275) bad = bad + 1
  !$omp taskloop shared(v) grainsize(7)
  do i = 1, 100
    v(i) = 2 * i
  end do
  !$omp end taskloop
  if (sum(v) /= 10100) bad = bad + 1
  !$omp taskwait
  if (order /= 20) bad = bad + 1
  !$omp task final(.true.) shared(bad)
  if (.not. omp_in_final()) then
    bad = bad + 1
  end if
  !$omp end task
  !$omp end single
  !$omp end parallel
  if (f /= 610) bad = bad + 1
  if (bad == 0) then
    print '(a)', 'ok'
  else
    print '(a,i0)', 'wrong ', bad
  end if
contains
  recursive subroutine fib(n, r)
    integer, value :: n
    integer(8), intent(out) :: r
    integer(8) :: a, b
    if (n < 2) then
      r = n
      return
    end if
    !$omp task shared(a) firstprivate(n)
    call fib(n - 1, a)
    !$omp end task
    !$omp task shared(b) firstprivate(n)
    call fib(n - 2, b)
    !$omp end task
    !$omp taskwait
    r = a + b
  end subroutine
end program
