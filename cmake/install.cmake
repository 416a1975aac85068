# `cmake --install` and `find_package(calque)`.
include(CMakePackageConfigHelpers)

set(calque_package_dir ${CMAKE_INSTALL_DATADIR}/cmake/calque)
install(TARGETS calque calque_separate_planner EXPORT calque FILE_SET HEADERS)
install(EXPORT calque NAMESPACE calque:: FILE calque-targets.cmake DESTINATION ${calque_package_dir})
write_basic_package_version_file(${CMAKE_CURRENT_BINARY_DIR}/calque-config-version.cmake
  COMPATIBILITY SameMinorVersion ARCH_INDEPENDENT)
install(FILES cmake/calque-config.cmake cmake/components.cmake cmake/separate_planner.cpp
  ${CMAKE_CURRENT_BINARY_DIR}/calque-config-version.cmake
  DESTINATION ${calque_package_dir})
