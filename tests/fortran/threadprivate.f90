! Variables of each thread: a common block and a module's, with copyin.
module state
  implicit none
  integer :: mine = 3
  real(8), allocatable, save :: own(:)
  !$omp threadprivate(mine, own)
end module state

program threadprivate
  use omp_lib
  use state
  implicit none
  integer :: shared_one, i, total
  integer :: counter(4)
  common /block/ counter
  !$omp threadprivate(/block/)
  counter = [1, 2, 3, 4]
  mine = 10
  total = 0
  !$omp parallel num_threads(3) copyin(mine, /block/) reduction(+:total)
  mine = mine + omp_get_thread_num()
  counter(2) = counter(2) + mine
  allocate (own(2))
  own = mine
  total = total + mine + sum(counter)
  !$omp end parallel
  print *, total
  total = 0
  !$omp parallel num_threads(3) reduction(+:total)
  total = total + mine * 100 + counter(2) + int(own(1))
  deallocate (own)
  !$omp end parallel
  print *, total, mine, counter
end program threadprivate
