# Installs hewn into a fresh folder, then configures, builds and runs a project that only knows find_package(hewn).
set(work "${BUILD_DIR}/install-test")
file(REMOVE_RECURSE "${work}")
function(run)
  execute_process(COMMAND ${ARGN} RESULT_VARIABLE code OUTPUT_VARIABLE out ERROR_VARIABLE out)
  if(NOT code EQUAL 0)
    message(FATAL_ERROR "failed (${code}): ${ARGN}\n${out}")
  endif()
endfunction()
run("${CMAKE_COMMAND}" --install "${BUILD_DIR}" --prefix "${work}/prefix")
run("${CMAKE_COMMAND}" -S "${CONSUMER_DIR}" -B "${work}/build" -G "${GENERATOR}"
    "-DCMAKE_PREFIX_PATH=${work}/prefix;${PREFIX_PATH}")
run("${CMAKE_COMMAND}" --build "${work}/build")
run("${work}/build/consumer")
