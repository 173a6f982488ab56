# The room `cli` and the command. The rooms' archives, the C++ runtime and the small libraries are linked
# statically where Debian has archives: start-up is felt, and half of it would be the dynamic loader.
function(rasp_archive result library)
  find_library(RASP_ARCHIVE_${library} NAMES lib${library}.a ${library} REQUIRED)
  set(${result} ${RASP_ARCHIVE_${library}} PARENT_SCOPE)
endfunction()
rasp_archive(program_options boost_program_options)
rasp_archive(edit edit)
rasp_archive(tinfo tinfo)
rasp_archive(bsd bsd)
rasp_archive(md md)
find_path(EDIT_INCLUDE histedit.h REQUIRED)

rasp_room(cli ROOMS base value syntax graph interpreter lang model compiler runtime visual verify
  LIBRARIES Boost::headers nlohmann_json::nlohmann_json ${program_options} ${edit} ${tinfo} ${bsd} ${md})
get_target_property(cli_sources rasp_cli SOURCES)
list(FILTER cli_sources EXCLUDE REGEX "/main\\.cc$")
set_target_properties(rasp_cli PROPERTIES SOURCES "${cli_sources}")
target_include_directories(rasp_cli SYSTEM PRIVATE ${EDIT_INCLUDE})
target_compile_definitions(rasp_cli PRIVATE RASP_VERSION="${PROJECT_VERSION}")

add_executable(rasp cli/main.cc)
target_link_libraries(rasp PRIVATE rasp_cli)
if(NOT RASP_SANITIZE)
  target_link_options(rasp PRIVATE -static-libstdc++ -static-libgcc)
endif()
set_target_properties(rasp PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR})
