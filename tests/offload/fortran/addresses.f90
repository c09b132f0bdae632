! Addresses on the device: `use_device_addr`, `has_device_addr`, `use_device_ptr` by way of C pointers.
program addresses
  use iso_c_binding
  use omp_lib
  implicit none
  integer, target :: x(10)
  integer :: i, there, errors
  type(c_ptr) :: memory
  integer(c_size_t) :: size, none
  errors = 0
  x = [(i, i = 1, 10)]
  !$omp target data map(tofrom: x) use_device_addr(x)
  !$omp target has_device_addr(x)
  x(3) = x(2) + 40
  !$omp end target
  !$omp end target data
  if (x(3) /= 42) errors = errors + 1
  size = 40
  none = 0
  memory = omp_target_alloc(size, omp_get_default_device())
  if (omp_target_memcpy(memory, c_loc(x), size, none, none, omp_get_default_device(), omp_get_initial_device()) /= 0) errors = errors + 10
  x = 0
  if (omp_target_memcpy(c_loc(x), memory, size, none, none, omp_get_initial_device(), omp_get_default_device()) /= 0) errors = errors + 10
  call omp_target_free(memory, omp_get_default_device())
  if (x(3) /= 42 .or. x(10) /= 10) errors = errors + 100
  there = 1
  !$omp target map(from: there)
  there = merge(1, 0, omp_is_initial_device())
  !$omp end target
  if (there /= 0) errors = errors + 1000
  if (errors == 0) then
    print '(a)', 'ok'
  else
    print *, errors
  end if
end program addresses
