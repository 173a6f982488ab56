# Embeds stdlib/*.rasp and the packs in stdlib/puzzles/ in the binary and makes rasp_lang of both. As
# a script (cmake -DOUT=... -P) it writes the .cc file; included, it declares the target.
if(CMAKE_SCRIPT_MODE_FILE)
  set(modules "")
  foreach(file IN LISTS FILES)
    file(RELATIVE_PATH name "${ROOT}" "${file}")
    string(REGEX REPLACE "\\.rasp$" "" name "${name}")
    file(READ "${file}" text)
    string(APPEND modules "      {\"${name}\",\n       R\"rasp(${text})rasp\"},\n")
  endforeach()
  file(WRITE "${OUT}" "// Made by src/lang/library.cmake from stdlib/*.rasp.\n"
    "#include \"lang/library.h\"\n\nnamespace rasp::lang {\n\n"
    "const std::vector<LibraryModule>& library() {\n"
    "  static const std::vector<LibraryModule> modules = {\n${modules}  };\n"
    "  return modules;\n}\n\n}  // namespace rasp::lang\n")
  return()
endif()

set(library_root ${PROJECT_SOURCE_DIR}/stdlib)
file(GLOB library_files CONFIGURE_DEPENDS ${library_root}/*.rasp ${library_root}/puzzles/*.rasp)
set(library_source ${CMAKE_CURRENT_BINARY_DIR}/library_text.cc)
add_custom_command(OUTPUT ${library_source}
  COMMAND ${CMAKE_COMMAND} "-DFILES=${library_files}" "-DROOT=${library_root}"
    "-DOUT=${library_source}" -P ${CMAKE_CURRENT_SOURCE_DIR}/lang/library.cmake
  DEPENDS ${library_files} ${CMAKE_CURRENT_SOURCE_DIR}/lang/library.cmake
  COMMENT "Embedding the standard library" VERBATIM)
rasp_room(lang ROOMS base value syntax graph)
target_sources(rasp_lang PRIVATE ${library_source})
