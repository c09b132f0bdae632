! A region whose threads report in turn.
program hello
  use omp_lib
  implicit none
  integer :: turn, total
  total = 0
  !$omp parallel num_threads(3) reduction(+:total)
  total = total + omp_get_thread_num() + 10
  !$omp end parallel
  print *, 'hello from', total
  !$omp parallel do ordered num_threads(2)
  do turn = 1, 3
    !$omp ordered
    write (*, '(a, i0)') 'turn ', turn
    !$omp end ordered
  end do
  !$omp end parallel do
end program hello
