! A character and an 8-bit integer by value are the same argument in C, and the same result, so one side of
! a call may declare the other type.
program interoperable
  use, intrinsic :: iso_c_binding
  implicit none
  interface
    subroutine as_text(a, b, c, d, e, f, g, h) bind(c, name='numbers')
      import c_char
      character(kind=c_char), value :: a, b, c, d, e, f, g, h
    end subroutine
    subroutine as_numbers(a, b, c) bind(c, name='text')
      import c_signed_char
      integer(c_signed_char), value :: a, b, c
    end subroutine
    function as_number(a, b) bind(c, name='letter_of')
      import c_signed_char, c_int
      integer(c_signed_char) :: as_number
      integer(c_int) :: a, b
    end function
  end interface
  character(kind=c_char) :: letter
  integer :: i
  !$omp parallel do ordered private(letter)
  do i = 1, 3
    letter = char(64 + i)
    !$omp ordered
    call as_text(letter, 'b', letter, 'd', letter, 'f', letter, 'h')
    call as_numbers(int(96 + i, c_signed_char), 98_c_signed_char, int(97 + i, c_signed_char))
    if (as_number(i, 64) /= 64 + i) print *, 'the result differs'
    !$omp end ordered
  end do
end program

function letter_of(a, b) bind(c)
  use, intrinsic :: iso_c_binding
  implicit none
  character(kind=c_char) :: letter_of
  integer(c_int) :: a, b
  letter_of = char(a + b)
end function

subroutine numbers(a, b, c, d, e, f, g, h) bind(c)
  use, intrinsic :: iso_c_binding
  implicit none
  integer(c_signed_char), value :: a, b, c, d, e, f, g, h
  print *, a, b, c, d, e, f, g, h, a == c, e == g
end subroutine

subroutine text(a, b, c) bind(c)
  use, intrinsic :: iso_c_binding
  implicit none
  character(kind=c_char), value :: a, b, c
  print *, a, b, c, a == c
end subroutine
