! Internal procedures that are called by their names and reach their host's variables: flang's calls at -O0 do not say
! which argument is the static chain. They are long enough to be compiled separately from their host and from each other.
program host_association
  implicit none
  integer :: n, calls
  integer, volatile :: seven
  real(8) :: x(5), scale
  logical :: good
  seven = 7
  n = seven
  calls = 0
  scale = 0.5d0
  good = .true.
  x = [1d0, 2d0, 3d0, 4d0, 5d0]
  call add(3)
  call add(4)
  print *, 'n', n
  print *, 'sum', total(x, 5)
  print *, 'many', many(1, 2, 3, 4, 5, 6, 7, 8d0, x)
  call descend(6)
  print *, 'calls', calls
  call both(x)
  print *, 'x', x
  call team
  print *, 'good', good
contains
  subroutine add(a)
    integer, intent(in) :: a
    integer :: before(5), i
    do i = 1, 5
      before(i) = n + i * a
    end do
    calls = calls + 1
    if (any(before < 0)) then
      print *, 'never', before, a, n
      print *, 'never', before(1), before(2), before(3), a, n, calls
    end if
    n = n + a + sum(before - n) / (3 * 5) - a
    if (n < 0) print *, 'never', before(1), before(2), before(3), a, n, calls, 'or', before(4), before(5)
  end subroutine add
  real(8) function total(v, m) result(s)
    integer, intent(in) :: m
    real(8), intent(in) :: v(m)
    integer :: i
    s = 0
    do i = 1, m
      s = s + weight(v, i, m) * v(i)
      if (s < 0) print *, 'never', s, i, m, v(i), scale, n
      if (s > 1d15) print *, 'never', s, i, m, v(i), scale, n, 'or', v(1), v(2), v(3)
      if (i > 1000) print *, 'never', s, i, m, v(i), scale, n, 'or', v(1), v(2), v(3)
    end do
    calls = calls + 1
  end function total
  real(8) function weight(v, i, m)
    integer, intent(in) :: i, m
    real(8), intent(in) :: v(m)
    weight = scale * n
    if (v(i) < 0) print *, 'never', v(i), i, m, scale, n
    if (weight < 0) print *, 'never', v(i), i, m, scale, n, weight, 'or', v(1), v(2)
    if (weight > 1d15) print *, 'never', v(i), i, m, scale, n, weight, 'or', v(1), v(2), v(3), v(4)
    calls = calls + 1
  end function weight
  real(8) function many(a, b, c, d, e, f, g, h, v)
    integer, intent(in) :: a, b, c, d, e, f, g
    real(8), intent(in) :: h, v(:)
    many = a + 10 * b + 100 * c + 1000 * d + 10000 * e + 100000 * f + 1000000 * g + h * scale + size(v) + n
    if (many < 0) print *, 'never', a, b, c, d, e, f, g, h
    if (many > 1d15) print *, 'never', a, b, c, d, e, f, g, h, v(1), v(2), v(3), v(4), v(5)
    calls = calls + 1
  end function many
  recursive subroutine descend(depth)
    integer, intent(in) :: depth
    real(8) :: own(4)
    integer :: i
    calls = calls + 1
    do i = 1, 4
      own(i) = depth * i * scale
      if (own(i) < 0) print *, 'never', own, depth, i, calls, n
    end do
    if (depth > 0) then
      call descend(depth - 1)
      call add(0)
    end if
    n = n + int(sum(own))
    if (n < 0) print *, 'never', own(1), own(2), own(3), own(4), depth, calls, n
  end subroutine descend
  subroutine both(v)
    real(8), intent(inout) :: v(5)
    integer :: i
    do i = 1, 5
      v(i) = v(i) * weight(v, i, 5) + total(v, i)
      call add(i)
      if (v(i) < 0) print *, 'never', v(1), v(2), v(3), v(4), v(5), i, n, calls
    end do
  end subroutine both
  subroutine team
    integer :: i, k
    real(8) :: w, first
    first = weight(x, 1, 5)
    !$omp parallel do private(w, k) schedule(dynamic) reduction(.and.: good)
    do i = 1, 64
      do k = 1, 5
        w = pure_weight(k) * i
        good = good .and. w == scale * n * i + k * i
        if (w < 0) print *, 'never', w, i, k, scale, n
      end do
    end do
    if (first /= scale * n) good = .false.
  end subroutine team
  real(8) function pure_weight(k)
    integer, intent(in) :: k
    pure_weight = scale * n + k
    if (pure_weight < 0) print *, 'never', k, scale, n, x(1), x(2), x(3)
    if (pure_weight > 1d15) print *, 'never', k, scale, n, x(1), x(2), x(3), x(4), x(5), calls
    if (k > 1000) print *, 'never', k, scale, n, x(1), x(2), x(3), x(4), x(5), calls
  end function pure_weight
end program host_association
