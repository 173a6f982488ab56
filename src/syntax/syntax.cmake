# The room `syntax`: the parser is generated from grammar/Rasp.g4 into the build folder.
find_program(ANTLR4 antlr4)
if(NOT ANTLR4)
  message(FATAL_ERROR "antlr4 not found: it generates the parser (Debian: apt install antlr4)")
endif()
find_path(ANTLR4_RUNTIME_INCLUDE antlr4-runtime.h PATH_SUFFIXES antlr4-runtime)
# The archive first: a process that loads the shared runtime starts a quarter later.
find_library(ANTLR4_RUNTIME NAMES libantlr4-runtime.a antlr4-runtime)
if(NOT ANTLR4_RUNTIME_INCLUDE OR NOT ANTLR4_RUNTIME)
  message(FATAL_ERROR
    "The ANTLR runtime was not found (Debian: apt install libantlr4-runtime-dev)")
endif()

set(grammar_dir ${PROJECT_SOURCE_DIR}/grammar)
set(generated_dir ${CMAKE_CURRENT_BINARY_DIR}/syntax/generated)
set(generated_sources ${generated_dir}/RaspLexer.cpp ${generated_dir}/RaspParser.cpp)
add_custom_command(
  OUTPUT ${generated_sources} ${generated_dir}/RaspLexer.h ${generated_dir}/RaspParser.h
  COMMAND ${ANTLR4} -Dlanguage=Cpp -no-listener -no-visitor -package rasp::syntax::generated
    -o ${generated_dir} Rasp.g4
  WORKING_DIRECTORY ${grammar_dir}
  DEPENDS ${grammar_dir}/Rasp.g4
  COMMENT "Generating the parser from grammar/Rasp.g4"
  VERBATIM)

# A target of its own: our warnings do not apply to it. Its literals are u8"": C++20 gives them another type.
add_library(rasp_grammar OBJECT ${generated_sources})
set(antlr_includes ${CMAKE_CURRENT_SOURCE_DIR}/syntax/runtime ${ANTLR4_RUNTIME_INCLUDE})
target_include_directories(rasp_grammar SYSTEM PUBLIC ${generated_dir} ${antlr_includes})
target_compile_options(rasp_grammar PRIVATE -fno-char8_t -w)

rasp_room(syntax ROOMS base value)
target_sources(rasp_syntax PRIVATE $<TARGET_OBJECTS:rasp_grammar>)
add_dependencies(rasp_syntax rasp_grammar)
target_include_directories(rasp_syntax SYSTEM PRIVATE ${generated_dir} ${antlr_includes})
target_link_libraries(rasp_syntax PRIVATE ${ANTLR4_RUNTIME} Threads::Threads)
# For the test that reads it.
set(RASP_GENERATED_PARSER ${generated_dir}/RaspParser.cpp CACHE INTERNAL "")
