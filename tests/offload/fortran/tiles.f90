! Collapsed loops whose iterations a device may reorder: neighbors in two and three dimensions, the consecutive
! index outside with a sum, and a loop that queries its thread's number.
program tiles
  use omp_lib
  implicit none
  integer, parameter :: sizes(4) = [3, 34, 67, 130]
  integer :: a, b
  logical :: good
  good = .true.
  do a = 1, 4
    do b = 1, 4
      call rows(sizes(a), sizes(b))
      call planes(sizes(a), min(sizes(b), 40), 11)
      call columns(sizes(a), sizes(b))
    end do
  end do
  call numbers(100, 30)
  if (good) then
    print '(a)', 'ok'
  else
    print '(a)', 'failed'
  end if
contains
  subroutine rows(n, m)
    integer, intent(in) :: n, m
    real, allocatable :: from(:, :), to(:, :), want(:, :)
    integer :: i, j
    allocate (from(n, m), to(n, m), want(n, m))
    do j = 1, m
      do i = 1, n
        from(i, j) = mod(7 * i + 3 * j, 11)
        to(i, j) = i
      end do
    end do
    want = to
    do j = 2, m - 1
      do i = 2, n - 1
        want(i, j) = want(i, j) + from(i - 1, j) + from(i + 1, j) + from(i, j - 1) + from(i, j + 1)
      end do
    end do
    !$omp target teams distribute parallel do collapse(2) map(to: from) map(tofrom: to)
    do j = 2, m - 1
      do i = 2, n - 1
        to(i, j) = to(i, j) + from(i - 1, j) + from(i + 1, j) + from(i, j - 1) + from(i, j + 1)
      end do
    end do
    good = good .and. all(to == want)
  end subroutine

  subroutine planes(n, m, l)
    integer, intent(in) :: n, m, l
    real, allocatable :: from(:, :, :), to(:, :, :), want(:, :, :)
    integer :: i, j, k
    allocate (from(n, m, l), to(n, m, l), want(n, m, l))
    do k = 1, l
      do j = 1, m
        do i = 1, n
          from(i, j, k) = mod(7 * i + 3 * j + 5 * k, 11)
          to(i, j, k) = k
        end do
      end do
    end do
    want = to
    do k = 2, l - 1
      do j = 2, m - 1
        do i = 2, n - 1
          want(i, j, k) = want(i, j, k) + from(i - 1, j, k) + from(i, j - 1, k) + from(i, j, k - 1) + from(i, j, k + 1)
        end do
      end do
    end do
    !$omp target teams distribute parallel do collapse(3) map(to: from) map(tofrom: to)
    do k = 2, l - 1
      do j = 2, m - 1
        do i = 2, n - 1
          to(i, j, k) = to(i, j, k) + from(i - 1, j, k) + from(i, j - 1, k) + from(i, j, k - 1) + from(i, j, k + 1)
        end do
      end do
    end do
    good = good .and. all(to == want)
  end subroutine

  subroutine columns(n, m)
    integer, intent(in) :: n, m
    real, allocatable :: to(:, :)
    real(8) :: total, want
    integer :: i, j
    allocate (to(n, m))
    to = 1
    total = 0
    want = 0
    !$omp target teams distribute parallel do collapse(2) map(tofrom: to, total) reduction(+: total)
    do i = 1, n
      do j = 1, m
        to(i, j) = to(i, j) + 2 * i + j
        total = total + to(i, j)
      end do
    end do
    do i = 1, n
      do j = 1, m
        good = good .and. to(i, j) == 1 + 2 * i + j
        want = want + to(i, j)
      end do
    end do
    good = good .and. total == want
  end subroutine

  subroutine numbers(n, m)
    integer, intent(in) :: n, m
    integer, allocatable :: who(:, :)
    integer :: i, j
    allocate (who(n, m))
    who = -1
    !$omp target teams distribute parallel do collapse(2) map(tofrom: who)
    do j = 1, m
      do i = 1, n
        who(i, j) = omp_get_thread_num()
      end do
    end do
    good = good .and. all(who >= 0)
  end subroutine
end program
