! Critical regions, named and not, locks and atomic updates.
program critical_regions
  use omp_lib
  implicit none
  integer :: i, total, other, low
  integer(8) :: steps
  real(8) :: d
  integer(omp_lock_kind) :: lock
  total = 0; other = 0; steps = 0; d = 0; low = 99
  call omp_init_lock(lock)
  !$omp parallel do num_threads(4)
  do i = 1, 200
    !$omp critical
    total = total + i
    !$omp end critical
    !$omp critical (second)
    other = other + mod(i, 3)
    !$omp end critical (second)
    call omp_set_lock(lock)
    d = d + 0.25d0
    call omp_unset_lock(lock)
    !$omp atomic update
    steps = steps + 2
    !$omp atomic
    low = min(low, mod(i * 13, 50) + 4)
  end do
  !$omp end parallel do
  call omp_destroy_lock(lock)
  print *, total, other, steps, d, low
end program critical_regions
