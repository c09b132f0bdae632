! Functions of ISO_Fortran_binding.h (ISO/IEC 1539-1:2018, section 18.5.5) alone: no other name of flang's
! runtime is left in this program, whose `main` is one of C.
function main() bind(c, name='main')
  use, intrinsic :: iso_c_binding
  implicit none
  integer(c_int) :: main
  interface
    function establish(descriptor, base, attribute, kind, bytes, rank, extents) bind(c, name='CFI_establish')
      import c_int, c_signed_char, c_size_t, c_long, c_ptr
      integer(c_int) :: establish
      integer(c_long) :: descriptor(*)
      type(c_ptr), value :: base
      integer(c_signed_char), value :: attribute, kind, rank
      integer(c_size_t), value :: bytes
      integer(c_long) :: extents(*)
    end function
    function is_contiguous_c(descriptor) bind(c, name='CFI_is_contiguous')
      import c_int, c_long
      integer(c_int) :: is_contiguous_c
      integer(c_long) :: descriptor(*)
    end function
    function address(descriptor, subscripts) bind(c, name='CFI_address')
      import c_long, c_ptr
      type(c_ptr) :: address
      integer(c_long) :: descriptor(*), subscripts(*)
    end function
  end interface
  integer(c_int), target :: values(4, 3)
  integer(c_int), pointer :: found
  integer(c_long) :: descriptor(32), extents(2), last(2)
  integer :: i
  !$omp parallel do
  do i = 0, 11
    values(mod(i, 4) + 1, i / 4 + 1) = 10 * i
  end do
  extents(1) = 4
  extents(2) = 3
  main = 1
  if (establish(descriptor, c_loc(values), 0_c_signed_char, 3_c_signed_char, 4_c_size_t, 2_c_signed_char, &
      extents) /= 0) return
  if (is_contiguous_c(descriptor) /= 1) return
  last(1) = 3
  last(2) = 2
  call c_f_pointer(address(descriptor, last), found)
  main = found
end function
