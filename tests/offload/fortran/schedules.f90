! Loops with chunk sizes, which flang 22 does not pass on: each iteration runs once, on one of the requested threads and teams.
program schedules
  use omp_lib
  implicit none
  integer, parameter :: n = 103
  integer :: thread(n), team(n), times(n), i, errors, k
  integer(8) :: j, long(n)
  errors = 0
  times = 0
  !$omp target parallel do schedule(static, 4) num_threads(8) map(from: thread) map(tofrom: times)
  do i = 1, n
    thread(i) = omp_get_thread_num()
    times(i) = times(i) + 1
  end do
  if (any(thread < 0) .or. any(thread > 7) .or. any(times /= 1)) errors = errors + 1
  !$omp target teams distribute dist_schedule(static, 5) num_teams(3) map(from: team) map(tofrom: times)
  do i = 1, n
    team(i) = omp_get_team_num()
    times(i) = times(i) + 1
  end do
  if (any(team < 0) .or. any(team > 2) .or. any(times /= 2)) errors = errors + 10
  if (maxval(team) /= 2 .or. minval(team) /= 0) errors = errors + 100
  long = 0
  !$omp target teams distribute parallel do dist_schedule(static, 10) schedule(static, 3) num_teams(4) map(tofrom: long)
  do j = 1, n
    long(j) = long(j) + j
  end do
  if (any(long /= [(int(k, 8), k = 1, n)])) errors = errors + 1000
  if (errors == 0) then
    print '(a)', 'ok'
  else
    print *, errors
  end if
end program schedules
