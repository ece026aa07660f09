include(CMakePackageConfigHelpers)
include(GNUInstallDirs)

# Two sets of targets: what running a model needs, and what needs LibTorch.
set(runtime_layers hewn_core hewn_io hewn_kernels hewn_runtime hewn_flow hewn_onnx)
install(TARGETS ${runtime_layers} EXPORT hewnRuntimeTargets
  ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR}
  FILE_SET HEADERS DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
get_property(layers GLOBAL PROPERTY HEWN_LAYERS)
list(REMOVE_ITEM layers ${runtime_layers})
install(TARGETS ${layers} hewn EXPORT hewnTargets
  ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR}
  FILE_SET HEADERS DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
if(HEWN_CLI)
  install(TARGETS hewn_cli RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
  install(TARGETS hewn_cli_torch RUNTIME DESTINATION ${CMAKE_INSTALL_LIBEXECDIR}/hewn)
endif()
set(config_dir "${CMAKE_INSTALL_LIBDIR}/cmake/hewn")
install(EXPORT hewnRuntimeTargets NAMESPACE hewn:: DESTINATION ${config_dir})
install(EXPORT hewnTargets NAMESPACE hewn:: DESTINATION ${config_dir})
configure_package_config_file(cmake/hewnConfig.cmake.in "${CMAKE_BINARY_DIR}/hewnConfig.cmake"
  INSTALL_DESTINATION ${config_dir})
write_basic_package_version_file("${CMAKE_BINARY_DIR}/hewnConfigVersion.cmake" COMPATIBILITY SameMinorVersion)
install(FILES cmake/program.cmake "${CMAKE_BINARY_DIR}/hewnConfig.cmake" "${CMAKE_BINARY_DIR}/hewnConfigVersion.cmake"
  DESTINATION ${config_dir})
