! Internal procedures as actual arguments: they reach their host's variables through a trampoline. In loops,
! recursively, by pointer, from C's qsort and by the threads of a team.
module callers
  use, intrinsic :: iso_c_binding
  implicit none
  abstract interface
    real(8) function scalar(x)
      real(8), intent(in) :: x
    end function scalar
    subroutine visitor(i, s)
      integer, intent(in) :: i
      character(*), intent(in) :: s
    end subroutine visitor
    integer(c_int) function compare(a, b) bind(c)
      import :: c_int, c_ptr
      type(c_ptr), value :: a, b
    end function compare
  end interface
  interface
    subroutine qsort(base, count, size, order) bind(c, name='qsort')
      import :: c_ptr, c_size_t, c_funptr
      type(c_ptr), value :: base
      integer(c_size_t), value :: count, size
      type(c_funptr), value :: order
    end subroutine qsort
  end interface
contains
  real(8) function total(f, n) result(s)
    procedure(scalar) :: f
    integer, intent(in) :: n
    integer :: i
    s = 0
    do i = 1, n
      s = s + f(real(i, 8))
    end do
  end function total
  recursive integer function through(f, depth) result(r)
    interface
      recursive integer function f(k)
        integer, intent(in) :: k
      end function f
    end interface
    integer, intent(in) :: depth
    integer :: mine
    mine = depth*10
    if (depth == 0) then
      r = f(1)
    else
      r = through(next, depth - 1)
    end if
  contains
    recursive integer function next(k)
      integer, intent(in) :: k
      next = f(k + 1) + mine
    end function next
  end function through
  subroutine each(words, visit)
    character(*), intent(in) :: words(:)
    procedure(visitor) :: visit
    integer :: i
    do i = 1, size(words)
      call visit(i, trim(words(i)))
    end do
  end subroutine each
end module callers

program internal
  use callers
  implicit none
  real(8) :: scale, sums(16)
  integer :: k, calls
  integer(c_int), target :: list(9)
  procedure(scalar), pointer :: pointed
  character(8) :: text
  calls = 0
  ! Rebuilt many times in one place, with another value each time.
  do k = 1, 2000
    scale = k
    sums(mod(k, 16) + 1) = total(scaled, 3)
  end do
  print '(f10.1,i8)', sum(sums), calls
  print '(i8)', through(leaf, 6)
  scale = 0.5d0
  pointed => scaled
  print '(f10.2)', total(pointed, 4)
  text = ''
  call each(['one  ', 'two  ', 'three'], collect)
  print '(a)', trim(text)
  list = [5, 2, 9, 1, 8, 3, 7, 4, 6]
  k = 1
  call sorted()
  print '(9i2)', list
  k = -1
  call sorted()
  print '(9i2)', list
  sums = 0
  !$omp parallel do num_threads(4) schedule(dynamic)
  do k = 1, 16
    sums(k) = of_thread(k)
  end do
  print '(f12.1)', sum(sums)
  !$omp parallel num_threads(3)
  !$omp single
  do k = 1, 16
    !$omp task firstprivate(k) shared(sums)
    sums(k) = of_thread(17 - k)
    !$omp end task
  end do
  !$omp end single
  !$omp end parallel
  print '(4f10.1)', sums(1:4)
contains
  real(8) function scaled(x)
    real(8), intent(in) :: x
    calls = calls + 1
    scaled = x*scale
  end function scaled
  recursive integer function leaf(k)
    integer, intent(in) :: k
    leaf = k + calls
  end function leaf
  subroutine collect(i, s)
    integer, intent(in) :: i
    character(*), intent(in) :: s
    text(i:i) = s(len(s):)
  end subroutine collect
  subroutine sorted()
    integer :: asked
    asked = 0
    call qsort(c_loc(list), 9_c_size_t, 4_c_size_t, c_funloc(order))
    print '(l1)', asked > 8
  contains
    integer(c_int) function order(a, b) bind(c)
      type(c_ptr), value :: a, b
      integer(c_int), pointer :: x, y
      call c_f_pointer(a, x)
      call c_f_pointer(b, y)
      asked = asked + 1
      order = k*(x - y)
    end function order
  end subroutine sorted
  recursive real(8) function of_thread(m) result(r)
    integer, intent(in) :: m
    real(8) :: factor
    factor = m
    r = total(mine, 50) + total(twice, 2)
  contains
    real(8) function mine(x)
      real(8), intent(in) :: x
      mine = x*factor
    end function mine
    real(8) function twice(x)
      real(8), intent(in) :: x
      twice = total(mine, int(x))
    end function twice
  end function of_thread
end program internal
