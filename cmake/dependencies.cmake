# LibTorch of a Python wheel is found with -DCMAKE_PREFIX_PATH="$(python3 -c 'import torch; print(torch.utils.cmake_prefix_path)')".
find_package(Torch REQUIRED)
find_package(nlohmann_json REQUIRED)
find_package(ZLIB REQUIRED)
find_package(OpenMP REQUIRED COMPONENTS CXX)  # at::parallel_for is inline: without -fopenmp it runs on one thread
if(HEWN_CLI)
  find_package(CLI11 REQUIRED)
endif()
if(HEWN_CUDA)
  enable_language(CUDA)
  set(CMAKE_CUDA_STANDARD 20)
  find_package(CUDAToolkit REQUIRED)
endif()

# LibTorch threads with OpenMP. OpenBLAS's pthread build keeps a second pool of threads that spins against it: on two
# cores a training step of the default mlp took 3 times as long. Where the OpenMP build is installed, programs look for
# BLAS there first, whatever Debian's alternatives say. (An old-style RPATH also holds for LibTorch's own search.)
find_file(HEWN_OPENBLAS libopenblas.so.0 PATH_SUFFIXES openblas-openmp PATHS "/usr/lib/${CMAKE_CXX_LIBRARY_ARCHITECTURE}"
  NO_DEFAULT_PATH)
function(hewn_program target)
  if(HEWN_OPENBLAS)
    cmake_path(GET HEWN_OPENBLAS PARENT_PATH folder)
    target_link_options(${target} PRIVATE -Wl,--disable-new-dtags)
    set_target_properties(${target} PROPERTIES BUILD_RPATH "${folder}" INSTALL_RPATH "${folder}")
  endif()
endfunction()
