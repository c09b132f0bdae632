! A lock, a nestable lock and a critical region go to the thread that waits longest, not to the one that releases them.
program locks_in_order
  use omp_lib
  use iso_c_binding
  implicit none
  interface
    integer(c_int) function usleep(micros) bind(c)
      import c_int
      integer(c_int), value :: micros
    end function
  end interface
  integer(omp_lock_kind) :: lock
  integer(omp_nest_lock_kind) :: nest
  integer :: kind, round, served, before, coming, good(3), unused
  call omp_init_lock(lock)
  call omp_init_nest_lock(nest)
  good = 0
  do kind = 1, 2
    do round = 1, 12
      served = 0; coming = 0; before = -1
      !$omp parallel num_threads(2) private(unused)
      if (omp_get_thread_num() == 0) call take(kind)
      !$omp barrier
      if (omp_get_thread_num() == 0) then
        unused = usleep(1000 * round)
        call give_back(kind)
        call take(kind)
        before = served
        call give_back(kind)
      else
        call take(kind)
        served = served + 1
        call give_back(kind)
      end if
      !$omp end parallel
      good(kind) = good(kind) + before
    end do
  end do
  do round = 1, 12
    served = 0; before = -1
    !$omp parallel num_threads(2) private(unused)
    if (omp_get_thread_num() == 0) then
      !$omp critical (ordered_region)
      !$omp atomic write
      coming = round
      unused = usleep(1000 * round)
      !$omp end critical (ordered_region)
      !$omp critical (ordered_region)
      before = served
      !$omp end critical (ordered_region)
    else
      do
        !$omp atomic read
        unused = coming
        if (unused == round) exit
        unused = usleep(10)
      end do
      !$omp critical (ordered_region)
      served = served + 1
      !$omp end critical (ordered_region)
    end if
    !$omp end parallel
    good(3) = good(3) + before
  end do
  print *, good > 6
contains
  subroutine take(kind)
    integer, intent(in) :: kind
    if (kind == 1) call omp_set_lock(lock)
    if (kind == 2) call omp_set_nest_lock(nest)
  end subroutine
  subroutine give_back(kind)
    integer, intent(in) :: kind
    if (kind == 1) call omp_unset_lock(lock)
    if (kind == 2) call omp_unset_nest_lock(nest)
  end subroutine
end program locks_in_order
