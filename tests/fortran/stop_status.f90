! A program that stops with a status in the middle.
program stop_status
  implicit none
  integer :: i, s
  s = 0
  !$omp parallel do reduction(+:s)
  do i = 1, 10
    s = s + i
  end do
  !$omp end parallel do
  print *, 'before', s
  if (s == 55) stop 3
  print *, 'never'
end program stop_status
