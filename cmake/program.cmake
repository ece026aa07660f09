# hewn_program(TARGET): for programs that train. LibTorch threads with OpenMP. OpenBLAS's pthread build keeps a second
# pool of threads that spins against it: on two cores a training step of the default mlp took 3 times as long. Where the
# OpenMP build is installed, programs look for BLAS there first, whatever Debian's alternatives say. (An old-style RPATH
# also holds for LibTorch's own search.)
find_file(HEWN_OPENBLAS libopenblas.so.0 PATH_SUFFIXES openblas-openmp PATHS "/usr/lib/${CMAKE_CXX_LIBRARY_ARCHITECTURE}"
  NO_DEFAULT_PATH)
function(hewn_program target)
  if(HEWN_OPENBLAS)
    cmake_path(GET HEWN_OPENBLAS PARENT_PATH folder)
    target_link_options(${target} PRIVATE -Wl,--disable-new-dtags)
    set_target_properties(${target} PROPERTIES BUILD_RPATH "${folder}" INSTALL_RPATH "${folder}")
  endif()
endfunction()
