! A handler that `signal` installs calls procedures for the first time, through a table of procedure pointers, while the
! program allocates.
module work
  implicit none
  abstract interface
    integer function step(n)
      integer, intent(in) :: n
    end function step
  end interface
  type entry
    procedure(step), pointer, nopass :: run
  end type entry
  type(entry) :: table(4)
  integer, volatile :: ticks = 0, total = 0
contains
  integer function one(n)
    integer, intent(in) :: n
    one = n + 1
  end function one
  integer function two(n)
    integer, intent(in) :: n
    two = n * 2
  end function two
  integer function three(n)
    integer, intent(in) :: n
    three = n - 3
  end function three
  integer function four(n)
    integer, intent(in) :: n
    real(10) :: x
    x = real(n, 10) / 4
    four = int(x * 16)
  end function four
  subroutine tick(number) bind(c)
    use, intrinsic :: iso_c_binding
    integer(c_int), value :: number
    if (ticks < 4) total = total + table(ticks + 1)%run(number)
    ticks = ticks + 1
  end subroutine tick
end module work

program signal_handler
  use work
  use, intrinsic :: iso_c_binding
  implicit none
  interface
    integer(c_int) function c_raise(number) bind(c, name='raise')
      import
      integer(c_int), value :: number
    end function c_raise
  end interface
  real(8), allocatable :: x(:)
  integer :: i
  table(1)%run => one
  table(2)%run => two
  table(3)%run => three
  table(4)%run => four
  call signal(14, tick)
  do i = 1, 6
    allocate (x(100 * i))
    x = i
    if (c_raise(14) /= 0) stop 1
    deallocate (x)
  end do
  print *, 'ticks', ticks, 'total', total
end program signal_handler
