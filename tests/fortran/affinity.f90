! Places, the affinity format and allocators by their Fortran names.
program affinity
  use omp_lib
  implicit none
  character(len=40) :: text
  integer :: needed
  integer(kind=omp_allocator_handle_kind) :: mine
  type(omp_alloctrait) :: traits(1)
  integer, allocatable :: numbers(:)
  print *, omp_get_num_places(), omp_get_proc_bind(), omp_get_place_num_procs(7777)
  allocate(numbers(omp_get_partition_num_places()))
  call omp_get_partition_place_nums(numbers)
  print *, numbers
  call omp_set_affinity_format('level %L of %0.4N')
  needed = omp_get_affinity_format(text)
  print *, needed, '|', text, '|'
  needed = omp_capture_affinity(text, 'thread %.3n')
  print *, needed, '|', text, '|'
  !$omp parallel num_threads(2) private(text, needed)
  needed = omp_capture_affinity(text, '')
  !$omp single
  print *, needed, '|', text, '|'
  !$omp end single
  !$omp end parallel
  mine = omp_init_allocator(omp_large_cap_mem_space, 0, traits)
  call omp_set_default_allocator(mine)
  print *, omp_get_default_allocator() == mine
  call omp_set_default_allocator(omp_default_mem_alloc)
  call omp_destroy_allocator(mine)
end program
