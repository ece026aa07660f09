# The page is bundled by esbuild into one HTML file and from there into a C++ source (web/build.mjs). Packages are those
# of web/package-lock.json; they are fetched anew only when that file changes.
if(HEWN_WEB)
  find_program(HEWN_NODE NAMES node nodejs)
  find_program(HEWN_NPM npm)
  if(NOT HEWN_NODE OR NOT HEWN_NPM)
    set(HEWN_WEB OFF)
    message(STATUS "hewn: npm is not installed; hewn report and hewn watch will have no page")
  endif()
endif()

# hewn_npm(FOLDER SOURCE): installs the packages that SOURCE/package-lock.json names into FOLDER.
function(hewn_npm folder source)
  file(MAKE_DIRECTORY "${folder}")
  add_custom_command(OUTPUT "${folder}/installed"
    COMMAND "${CMAKE_COMMAND}" -E copy "${source}/package.json" "${source}/package-lock.json" "${folder}"
    COMMAND "${HEWN_NPM}" ci --no-audit --no-fund --ignore-scripts --loglevel=error
    COMMAND "${CMAKE_COMMAND}" -E touch "${folder}/installed"
    DEPENDS "${source}/package.json" "${source}/package-lock.json"
    WORKING_DIRECTORY "${folder}"
    COMMENT "npm ci (${source})" VERBATIM)
endfunction()

# hewn_page(VARIABLE): sets it to the source that holds the page. To be called where that is compiled.
function(hewn_page variable)
  set(web "${CMAKE_SOURCE_DIR}/web")
  set(build "${CMAKE_BINARY_DIR}/web")
  hewn_npm("${build}" "${web}")
  file(GLOB sources CONFIGURE_DEPENDS "${web}/src/*.js" "${web}/src/*.css" "${web}/src/*.html")
  add_custom_command(OUTPUT "${build}/embedded_page.cpp"
    COMMAND "${HEWN_NODE}" "${web}/build.mjs" "${build}/node_modules" "${build}/embedded_page.cpp"
    DEPENDS "${build}/installed" "${web}/build.mjs" ${sources}
    COMMENT "bundling the report page" VERBATIM)
  set(${variable} "${build}/embedded_page.cpp" PARENT_SCOPE)
endfunction()
