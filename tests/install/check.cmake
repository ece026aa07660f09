# Installs hewn into a fresh folder, then configures, builds and runs a project that only knows find_package(hewn), and one
# that links the runtime alone and must not need LibTorch.
set(work "${BUILD_DIR}/install-test")
file(REMOVE_RECURSE "${work}")
function(run)
  execute_process(COMMAND ${ARGN} RESULT_VARIABLE code OUTPUT_VARIABLE out ERROR_VARIABLE out)
  if(NOT code EQUAL 0)
    message(FATAL_ERROR "failed (${code}): ${ARGN}\n${out}")
  endif()
  set(output "${out}" PARENT_SCOPE)
endfunction()
run("${CMAKE_COMMAND}" --install "${BUILD_DIR}" --prefix "${work}/prefix")
run("${CMAKE_COMMAND}" -S "${CONSUMER_DIR}" -B "${work}/build" -G "${GENERATOR}"
    "-DCMAKE_PREFIX_PATH=${work}/prefix;${PREFIX_PATH}")
run("${CMAKE_COMMAND}" --build "${work}/build")
run("${work}/build/consumer")

run("${CMAKE_COMMAND}" -S "${RUNTIME_CONSUMER_DIR}" -B "${work}/runtime" -G "${GENERATOR}"
    "-DCMAKE_PREFIX_PATH=${work}/prefix")
run("${CMAKE_COMMAND}" --build "${work}/runtime")
run("${work}/runtime/runtime_consumer" "${MODEL}")
run(readelf -d "${work}/runtime/runtime_consumer")
if(output MATCHES "libtorch|libc10")
  message(FATAL_ERROR "the runtime needs LibTorch:\n${output}")
endif()
