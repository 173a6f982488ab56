# Embeds the kernels' text in rasp_runtime. As a script (cmake -DOUT=... -P) it writes the .cc file;
# included, it adds it to the target.
if(CMAKE_SCRIPT_MODE_FILE)
  set(branches "")
  foreach(file IN LISTS FILES)
    get_filename_component(name "${file}" NAME)
    file(READ "${file}" text)
    string(APPEND branches "  if (name == \"${name}\")\n    return R\"rasp(${text})rasp\";\n")
  endforeach()
  file(WRITE "${OUT}" "// Made by src/runtime/gpu/kernels.cmake from src/runtime/gpu/kernels.\n"
    "#include \"runtime/gpu/kernel_sources.h\"\n\nnamespace rasp::runtime::gpu {\n\n"
    "std::string_view kernel_file(std::string_view name) {\n${branches}  return {};\n}\n\n"
    "}  // namespace rasp::runtime::gpu\n")
  return()
endif()

set(kernel_root ${CMAKE_CURRENT_SOURCE_DIR}/runtime/gpu/kernels)
file(GLOB kernel_files CONFIGURE_DEPENDS ${kernel_root}/*.cl ${kernel_root}/*.h)
set(kernel_text ${CMAKE_CURRENT_BINARY_DIR}/kernel_text.cc)
add_custom_command(OUTPUT ${kernel_text}
  COMMAND ${CMAKE_COMMAND} "-DFILES=${kernel_files}" "-DOUT=${kernel_text}"
    -P ${CMAKE_CURRENT_SOURCE_DIR}/runtime/gpu/kernels.cmake
  DEPENDS ${kernel_files} ${CMAKE_CURRENT_SOURCE_DIR}/runtime/gpu/kernels.cmake
  COMMENT "Embedding the kernels" VERBATIM)
target_sources(rasp_runtime PRIVATE ${kernel_text})
# The drivers of devices are opened at run time.
target_link_libraries(rasp_runtime PUBLIC ${CMAKE_DL_LIBS})
