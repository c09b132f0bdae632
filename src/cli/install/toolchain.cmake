# Selects ompvm's compilers for a CMake project: cmake --toolchain .../share/ompvm/toolchain.cmake
#
# It sets no system name, so CMake does not treat the build as one for another system. Compilers that
# the command line or a preset names stay.

get_filename_component(OMPVM_PREFIX "${CMAKE_CURRENT_LIST_DIR}/../.." ABSOLUTE)
foreach(pair IN ITEMS "C;cc" "CXX;c++" "Fortran;fc")
  list(GET pair 0 language)
  list(GET pair 1 name)
  if(NOT DEFINED CMAKE_${language}_COMPILER)
    set(CMAKE_${language}_COMPILER "${OMPVM_PREFIX}/bin/ompvm-${name}")
  endif()
endforeach()
