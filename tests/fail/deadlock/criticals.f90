! critical (15.2): two sections enter two critical sections in opposite order. `tests/harness/deadlocks.rs` runs it.
program criticals
  implicit none
  integer :: inside
  inside = 0
  !$omp parallel sections
  !$omp section
  !$omp critical (first)
  !$omp atomic
  inside = inside + 1
  call meet(inside)
  !$omp critical (second)
  print *, "first and second"
  !$omp end critical (second)
  !$omp end critical (first)
  !$omp section
  !$omp critical (second)
  !$omp atomic
  inside = inside + 1
  call other(inside)
  !$omp end critical (second)
  !$omp end parallel sections
contains
  subroutine other(inside)
    integer, intent(in) :: inside
    call meet(inside)
    !$omp critical (first)
    print *, "second and first"
    !$omp end critical (first)
  end subroutine
  subroutine meet(inside)
    integer, intent(in) :: inside
    integer :: seen
    do
      !$omp atomic read
      seen = inside
      if (seen == 2) exit
    end do
  end subroutine
end program
