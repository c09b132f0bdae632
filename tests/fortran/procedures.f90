! Module procedures, generic names, optional and elemental ones, recursion, procedure pointers,
! polymorphism; regions inside of procedures.
module tools
  implicit none
  interface twice
    module procedure twice_integer, twice_real
  end interface twice
  type, abstract :: shape_type
  contains
    procedure(area_of), deferred :: area
  end type shape_type
  abstract interface
    real(8) function area_of(self)
      import :: shape_type
      class(shape_type), intent(in) :: self
    end function area_of
  end interface
  type, extends(shape_type) :: square
    real(8) :: side
  contains
    procedure :: area => square_area
  end type square
  type, extends(shape_type) :: disc
    real(8) :: radius
  contains
    procedure :: area => disc_area
  end type disc
contains
  integer function twice_integer(x)
    integer, intent(in) :: x
    twice_integer = 2 * x
  end function twice_integer
  real(8) function twice_real(x)
    real(8), intent(in) :: x
    twice_real = 2 * x
  end function twice_real
  real(8) function square_area(self)
    class(square), intent(in) :: self
    square_area = self%side**2
  end function square_area
  real(8) function disc_area(self)
    class(disc), intent(in) :: self
    disc_area = 3 * self%radius**2
  end function disc_area
  elemental integer function clamp(x, top)
    integer, intent(in) :: x
    integer, intent(in), optional :: top
    clamp = x
    if (present(top)) clamp = min(x, top)
  end function clamp
  recursive integer function fib(n) result(f)
    integer, intent(in) :: n
    f = n
    if (n > 1) f = fib(n - 1) + fib(n - 2)
  end function fib
  subroutine fill(v, f)
    integer, intent(out) :: v(:)
    interface
      integer function f(n)
        integer, intent(in) :: n
      end function f
    end interface
    integer :: i
    !$omp parallel do schedule(dynamic)
    do i = 1, size(v)
      v(i) = f(i)
    end do
    !$omp end parallel do
  end subroutine fill
  real(8) function total(list, n)
    class(shape_type), intent(in) :: list
    integer, intent(in) :: n
    integer :: i
    total = 0
    !$omp parallel do reduction(+:total) shared(list)
    do i = 1, n
      total = total + list%area()
    end do
    !$omp end parallel do
  end function total
end module tools

program procedures
  use tools
  implicit none
  integer :: v(15)
  procedure(integer), pointer :: p
  print *, twice(21), twice(1.25d0), clamp([1, 5, 9], 6), clamp(7)
  call fill(v, fib)
  print '(15i5)', v
  print *, total(square(2d0), 10), total(disc(1d0), 4)
  p => twice_integer
  print *, p(4), inner(3)
contains
  integer function inner(k)
    integer, intent(in) :: k
    inner = k * v(10)
  end function inner
end program procedures
