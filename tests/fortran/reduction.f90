! Reductions of every kind over scalars.
program reduction
  implicit none
  integer :: i, s, m, low, bits, xors
  integer(8) :: p
  real(8) :: d
  real(4) :: big
  logical :: every, any_one
  complex(8) :: z
  s = 5; p = 1; low = 1000; m = -1; bits = 0; xors = 0; d = 0; big = -1
  every = .true.; any_one = .false.; z = (0d0, 0d0)
  !$omp parallel do reduction(+:s,d,z) reduction(*:p) reduction(min:low) reduction(max:m,big) &
  !$omp& reduction(ior:bits) reduction(ieor:xors) reduction(.and.:every) reduction(.or.:any_one)
  do i = 1, 15
    s = s + i
    p = p * mod(i, 4) + merge(0, 1, mod(i, 4) > 0) * p
    low = min(low, abs(i - 7))
    m = max(m, mod(i * 7, 11))
    d = d + 0.5d0 * i
    big = max(big, real(mod(i * 5, 9)))
    bits = ior(bits, ishft(1, mod(i, 6)))
    xors = ieor(xors, i * 3)
    every = every .and. i > 0
    any_one = any_one .or. i == 9
    z = z + cmplx(i, -i, 8)
  end do
  !$omp end parallel do
  print *, s, p, low, m, bits, xors
  print *, d, big, every, any_one
  print *, z
end program reduction
