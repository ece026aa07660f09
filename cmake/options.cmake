option(HEWN_CLI "Build the command-line tool" ${PROJECT_IS_TOP_LEVEL})
option(HEWN_TESTS "Build the tests" ${PROJECT_IS_TOP_LEVEL})
option(HEWN_BENCH "Build the benchmarks" OFF)
option(HEWN_CUDA "Build the CUDA kernels (needs nvcc and a LibTorch with CUDA)" OFF)
set(HEWN_CUDA_ARCHITECTURES 90 CACHE STRING "GPU architectures of the CUDA kernels")
option(HEWN_ZSTD "Read click logs from .zst files where zstd is installed" ON)
option(HEWN_JPEG "Read image folders where libjpeg-turbo is installed" ON)
option(HEWN_DISTRIBUTED "Train in several processes where the headers of Gloo or NCCL are installed" ON)
option(HEWN_WEB "Build the page of hewn report and hewn watch where npm is installed" ON)
option(HEWN_WERROR "Treat warnings as errors" OFF)
option(HEWN_PCH "Precompile LibTorch's headers" ON)
option(HEWN_UNITY "Compile several files of a layer at a time" ON)
set(HEWN_UNITY_OF "" CACHE STRING "Where not empty, only these files; ./dev lint names those it checks")
set(HEWN_SANITIZE "" CACHE STRING "Sanitizers, e.g. address,undefined")

set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)

# Warnings and sanitizers for our own targets only, never for what a consumer builds.
add_library(hewn_build INTERFACE)
# -Wno-restrict: GCC 12 sees overlaps in std::string that are not there (GCC bug 105651).
# With sanitizers GCC 12 also sees uninitialised members inside std::regex.
set(warnings -Wall -Wextra -Wshadow -Wconversion -Wsign-conversion -Wnon-virtual-dtor -Woverloaded-virtual -Wno-restrict
  $<$<BOOL:${HEWN_WERROR}>:-Werror>)
if(HEWN_SANITIZE)
  list(APPEND warnings -Wno-maybe-uninitialized)
endif()
target_compile_options(hewn_build INTERFACE $<$<COMPILE_LANGUAGE:CXX>:${warnings}>)
if(HEWN_SANITIZE)
  add_compile_options(-fsanitize=${HEWN_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer)
  add_link_options(-fsanitize=${HEWN_SANITIZE})
endif()

find_program(HEWN_CCACHE ccache)
if(HEWN_CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  set(CMAKE_CXX_COMPILER_LAUNCHER "${HEWN_CCACHE}")
endif()
find_program(HEWN_LLD ld.lld)
if(HEWN_LLD)
  add_link_options(-fuse-ld=lld)
endif()

# For code that only calls what does the work: compiling it well takes twice as long and saves nothing.
# GCC 13 on x86 refuses a precompiled header at -O1 that was made at -O3, but takes it at -O2.
add_library(hewn_glue INTERFACE)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_GREATER_EQUAL 13)
  set(glue_level -O2)
else()
  set(glue_level -O1)
endif()
target_compile_options(hewn_glue INTERFACE $<$<AND:$<COMPILE_LANGUAGE:CXX>,$<CONFIG:Release>>:${glue_level}>)
