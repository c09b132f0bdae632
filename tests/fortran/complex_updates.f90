! Complex elements that are read, overwritten and used again, as in products with blocks of a
! diagonal.
module updates
  implicit none
contains
  subroutine multiply(n, d, rows, b, row)
    integer, intent(in) :: n, rows, row
    complex(8), intent(in) :: d(2, 2)
    complex(8), intent(inout) :: b(rows, *)
    complex(8) :: first, second, d11, d12, d22
    integer :: j
    d11 = d(1, 1)
    d12 = d(1, 2)
    d22 = d(2, 2)
    do j = 1, n
      first = b(row, j)
      second = b(row + 1, j)
      b(row, j) = d11 * first + d12 * second
      b(row + 1, j) = d12 * first + d22 * second
    end do
  end subroutine multiply

  subroutine rotate(n, c, s, x, y)
    integer, intent(in) :: n
    complex(8), intent(in) :: c, s
    complex(8), intent(inout) :: x(n), y(n)
    complex(8) :: old
    integer :: i
    do i = 1, n
      old = x(i)
      x(i) = c * old + s * y(i)
      y(i) = c * y(i) - conjg(s) * old
    end do
  end subroutine rotate

  subroutine scale_rows(a)
    complex(8), intent(inout) :: a(:, :)
    complex(8) :: pivot
    integer :: i
    do i = 1, size(a, 1)
      pivot = a(i, i)
      a(i, i) = 1
      a(i, :) = a(i, :) * pivot
    end do
  end subroutine scale_rows
end module updates

program complex_updates
  use updates
  implicit none
  complex(8) :: d(2, 2), b(2, 3), x(4), y(4)
  integer :: i, j
  d = reshape([(1d0, 2d0), (3d0, 5d0), (4d0, -1d0), (7d0, 11d0)], [2, 2])
  do j = 1, 3
    do i = 1, 2
      b(i, j) = cmplx(i + j, i - j, 8)
    end do
  end do
  call multiply(3, d, 2, b, 1)
  print '(6f9.1)', b
  do i = 1, 4
    x(i) = cmplx(i, -i, 8)
    y(i) = cmplx(2 * i, 3, 8)
  end do
  call rotate(4, (2d0, 1d0), (-1d0, 3d0), x, y)
  print '(8f9.1)', x, y
  call scale_rows(d)
  print '(4f9.1)', d
end program complex_updates
