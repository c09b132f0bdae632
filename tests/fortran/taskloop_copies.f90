! OpenMP 5.2, section 12.6: taskloop whose variables flang puts into a structure of its own, and copies for
! each of the tasks: lastprivate and firstprivate ones, with bounds of each size.
program taskloop_copies
  implicit none
  integer :: last, sum, i
  integer(8) :: wide
  real :: before(3)
  before = [1.0, 2.0, 3.0]
  sum = 0
  wide = 0
  last = 0
  !$omp parallel
  !$omp single
  !$omp taskloop lastprivate(last) shared(sum) grainsize(1)
  do i = 2, 7, 2
    last = i
    !$omp atomic
    sum = sum + i
  end do
  !$omp end taskloop
  call inner(3, 12, wide)
  !$omp end single
  !$omp end parallel
  print *, last, sum, wide
contains
  subroutine inner(first, final, result)
    integer, intent(in) :: first, final
    integer(8), intent(out) :: result
    integer :: d
    real :: own(3)
    own = before
    result = 0
    !$omp taskloop lastprivate(result) firstprivate(own) num_tasks(4)
    do d = first, final
      own(1) = own(1) + d
      result = d * int(own(3))
    end do
    !$omp end taskloop
  end subroutine
end program
