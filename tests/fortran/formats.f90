! Formatted output and internal files.
program formats
  implicit none
  character(len=40) :: text
  character(len=:), allocatable :: grown
  integer :: i, k, status
  real(8) :: x
  logical :: flag
  x = 3.14159265358979d0
  write (*, '(i5, i0, i8.4, 2x, z8, b12)') 42, -7, 13, 255, 10
  write (*, '(f10.4, e14.6, es12.3, g12.5)') x, x * 1d10, x / 1d5, x
  write (*, '(3(a, 1x), l2, l5)') 'one', 'two', 'three', .true., .false.
  write (text, '(a, i3.3)') 'item', 9
  print '(a)', trim(text)
  read (text(5:7), *) k
  print *, k + 1, len_trim(text), index(text, 'm')
  read (*, *, iostat=status) i
  print *, 'end of input:', status < 0
  grown = 'abc'
  do i = 1, 3
    grown = grown // achar(iachar('d') + i)
  end do
  print *, grown, len(grown), adjustr('  x ') // '|'
  print '(*(i0, :, ", "))', [(i * i, i = 1, 7)]
  write (*, '(a)', advance='no') 'no '
  write (*, '(a)') 'advance'
  flag = .not. (x > 4)
  print *, flag, nint(x), floor(-x), mod(-7, 3), modulo(-7, 3)
  open (unit=10, status='scratch', form='unformatted')
  write (10) x, 'bytes'
  rewind (10)
  read (10) x, text(1:5)
  print *, x, text(1:5)
  close (10)
end program formats
