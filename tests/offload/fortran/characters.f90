! Characters and logicals, and atomic updates between teams.
program characters
  implicit none
  character(len=5) :: word
  character(len=1) :: letters(26)
  logical :: flags(10), all_set
  integer :: i, counted
  complex(8) :: z(8), w
  word = 'hello'
  !$omp target map(tofrom: word)
  word(1:1) = 'j'
  !$omp end target
  !$omp target parallel do map(from: letters)
  do i = 1, 26
    letters(i) = achar(96 + i)
  end do
  flags = .false.
  !$omp target parallel do map(tofrom: flags)
  do i = 1, 10
    flags(i) = mod(i, 2) == 0
  end do
  counted = 0
  !$omp target teams distribute parallel do map(tofrom: counted)
  do i = 1, 1000
    !$omp atomic
    counted = counted + 1
  end do
  all_set = .true.
  !$omp target parallel do reduction(.and.: all_set) map(tofrom: all_set)
  do i = 1, 10
    all_set = all_set .and. i < 11
  end do
  z = (1d0, 2d0)
  w = 0
  !$omp target map(tofrom: w) map(to: z)
  do i = 1, 8
    w = w + z(i) * (0d0, 1d0)
  end do
  !$omp end target
  if (word == 'jello' .and. letters(26) == 'z' .and. count(flags) == 5 .and. counted == 1000 &
      .and. all_set .and. w == (-16d0, 8d0)) then
    print '(a)', 'ok'
  else
    print *, word, letters, flags, counted, all_set, w
  end if
end program characters
