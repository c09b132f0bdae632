! OpenMP 5.2, section 13.8: arrays and a reduction in Fortran on a device of another rank.
program sum_on_rank
  use omp_lib
  implicit none
  integer :: i, last
  real(8) :: a(20000), total
  last = omp_get_num_devices() - 1
  a = 1
  total = 0
  !$omp target teams distribute parallel do device(last) map(tofrom: a) map(tofrom: total) reduction(+: total)
  do i = 1, size(a)
    a(i) = a(i) + i
    total = total + a(i)
  end do
  if (last < 1 .or. total /= 20000d0 + 200010000d0 .or. a(20000) /= 20001) stop 1
  print '(a)', 'ok'
end program
