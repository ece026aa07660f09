# hewn_discover_suites(TARGET NAME LABEL): one test of ctest for every suite of a GoogleTest program. Loading LibTorch takes
# half a second of CPU time, and what a suite sets up once would else be set up for every case. Cases whose names begin with Slow
# are left out. This file is also the script that asks the program for its suites once it is built.
if(NOT CMAKE_SCRIPT_MODE_FILE)
  set(hewn_test_suites "${CMAKE_CURRENT_LIST_FILE}")
  function(hewn_discover_suites target name label)
    set(list "${CMAKE_CURRENT_BINARY_DIR}/${target}_suites.cmake")
    add_custom_command(TARGET ${target} POST_BUILD VERBATIM BYPRODUCTS "${list}"
      COMMAND "${CMAKE_COMMAND}" "-DPROGRAM=$<TARGET_FILE:${target}>" -DNAME=${name} -DLABEL=${label} "-DLIST=${list}"
              -P "${hewn_test_suites}")
    set(include "${CMAKE_CURRENT_BINARY_DIR}/${target}_include.cmake")
    file(WRITE "${include}" "if(EXISTS \"${list}\")\n  include(\"${list}\")\nelse()\n  add_test(${target}_NOT_BUILT ${target}_NOT_BUILT)\nendif()\n")
    set_property(DIRECTORY APPEND PROPERTY TEST_INCLUDE_FILES "${include}")
  endfunction()
  return()
endif()

execute_process(COMMAND "${PROGRAM}" --gtest_list_tests "--gtest_filter=-*.Slow*" OUTPUT_VARIABLE out RESULT_VARIABLE code
                ERROR_VARIABLE out)
if(NOT code EQUAL 0)
  message(FATAL_ERROR "${PROGRAM} --gtest_list_tests failed:\n${out}")
endif()
# Suites that start programs take longest, and begin first.
set(weight 1)
if(NAME STREQUAL "cli")
  set(weight 10)
endif()
string(REGEX REPLACE "[][;]" "_" out "${out}")
string(REPLACE "\n" ";" lines "${out}")
set(text "")
set(suite "")
macro(close_suite)
  if(suite)
    string(APPEND text "add_test([==[${NAME}.${suite}]==] \"${PROGRAM}\" \"--gtest_filter=${suite}.*-*.Slow*\")\n"
           "set_tests_properties([==[${NAME}.${suite}]==] PROPERTIES LABELS ${LABEL} COST ${cases})\n")
  endif()
endmacro()
foreach(line IN LISTS lines)
  if(line MATCHES "^([^ ]+)\\.( *#.*)?$")
    close_suite()
    set(suite "${CMAKE_MATCH_1}")
    set(cases 0)
  elseif(line MATCHES "^  [^ ]")
    math(EXPR cases "${cases} + ${weight}")
  endif()
endforeach()
close_suite()
file(WRITE "${LIST}" "${text}")
