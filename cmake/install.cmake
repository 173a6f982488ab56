# `cmake --install`: the command, the rooms' archives and headers, and a package for find_package(raspkit),
# whose target raspkit::rasp is the sum of the rooms.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

set(rasp_rooms base value syntax graph interpreter lang model compiler runtime visual verify)
list(TRANSFORM rasp_rooms PREPEND rasp_ OUTPUT_VARIABLE rasp_room_targets)
add_library(librasp INTERFACE)
target_link_libraries(librasp INTERFACE ${rasp_room_targets})
set_target_properties(librasp PROPERTIES EXPORT_NAME rasp)
add_library(raspkit::rasp ALIAS librasp)

install(TARGETS rasp RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
install(TARGETS librasp rasp_options ${rasp_room_targets} EXPORT raspkit
  ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
foreach(room IN LISTS rasp_rooms)
  install(DIRECTORY ${PROJECT_SOURCE_DIR}/src/${room}
    DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/raspkit FILES_MATCHING PATTERN "*.h")
endforeach()

set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/raspkit)
install(EXPORT raspkit NAMESPACE raspkit:: FILE raspkit-targets.cmake DESTINATION ${package_dir})
configure_package_config_file(cmake/raspkit-config.cmake.in
  ${CMAKE_CURRENT_BINARY_DIR}/raspkit-config.cmake INSTALL_DESTINATION ${package_dir})
write_basic_package_version_file(${CMAKE_CURRENT_BINARY_DIR}/raspkit-config-version.cmake
  COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/raspkit-config.cmake
  ${CMAKE_CURRENT_BINARY_DIR}/raspkit-config-version.cmake DESTINATION ${package_dir})
