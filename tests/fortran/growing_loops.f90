! Nests whose inner loops are longer with each iteration of the outer one: triangles, steps, and small matrices.
program growing
  implicit none
  integer :: b(1024), c(1024), e, k
  double precision :: a(3, 3), x(3)
  b = 1
  c = 2
  e = 0
  do k = 1, 1000
    call steps(b, c, e)
  end do
  a = reshape([2d0, 1d0, 0d0, 1d0, 2d0, 1d0, 0d0, 1d0, 2d0], [3, 3])
  x = [8.5d0, 10.333333333333334d0, 7.166666666666667d0]
  call solve(a, x)
  print '(i0, 1x, i0, 1x, i0, 1x, i0, 1x, f0.3)', e, triangle(100), shrinking(), pyramid(), weighted()
  print '(f0.3, 1x, f0.3, 1x, f0.3)', x
contains
  subroutine steps(b, c, e)
    integer :: b(:), c(:), e, s, i
    do s = 256, 1024, 256
      do i = 1, s
        if (b(i) /= c(i)) e = e + 1
      end do
    end do
  end subroutine
  integer function triangle(n)
    integer :: n, i, j
    triangle = 0
    do i = 1, n
      do j = 1, i - 1
        triangle = triangle + b(j)
      end do
    end do
  end function
  integer function shrinking()
    integer :: s, i
    shrinking = 0
    do s = 1000, 20, -140
      do i = 1, s
        shrinking = shrinking + ieor(b(i), c(i)) - 1 + merge(1, 0, mod(i, 2) == 0) - 1 + b(i)
      end do
    end do
    shrinking = shrinking + 3000
  end function
  integer function pyramid()
    integer :: i, j, k
    pyramid = 0
    do i = 1, 20
      do j = 1, i
        do k = 1, j
          pyramid = pyramid + b(k)
        end do
      end do
    end do
  end function
  double precision function weighted()
    integer :: s, i
    weighted = 0
    do s = 64, 256, 64
      do i = 1, s
        weighted = weighted * 0.5d0 - dble(c(i)) * 0.25d0 * 15d0
      end do
    end do
  end function
  subroutine solve(a, x)
    double precision :: a(3, 3), x(3), f
    integer :: i, j, l
    do i = 1, 3
      do j = i + 1, 3
        f = a(j, i) / a(i, i)
        do l = i + 1, 3
          a(j, l) = a(j, l) - f * a(i, l)
        end do
        x(j) = x(j) - f * x(i)
      end do
    end do
    do i = 3, 1, -1
      do j = i + 1, 3
        x(i) = x(i) - a(i, j) * x(j)
      end do
      x(i) = x(i) / a(i, i)
    end do
  end subroutine
end program
