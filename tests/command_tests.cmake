# Tests that run the command, and the check of the rooms' arrows.
find_package(Python3 REQUIRED COMPONENTS Interpreter)
function(rasp_script_test name script)
  add_test(NAME ${name} COMMAND Python3::Interpreter ${CMAKE_CURRENT_SOURCE_DIR}/${script} ${ARGN})
endfunction()

rasp_script_test(rooms check_rooms.py ${PROJECT_SOURCE_DIR}/src)
rasp_script_test(golden golden/run.py $<TARGET_FILE:rasp>)
rasp_script_test(conformance.repl conformance/check_transcripts.py $<TARGET_FILE:rasp>)
rasp_script_test(terminal cli/terminal_test.py $<TARGET_FILE:rasp>)
rasp_script_test(terminal.puzzles cli/puzzles_terminal_test.py $<TARGET_FILE:rasp>)
rasp_script_test(interrupts cli/interrupts_test.py $<TARGET_FILE:rasp>)
rasp_script_test(streams cli/streams_test.py $<TARGET_FILE:rasp> ${PROJECT_SOURCE_DIR}/examples)
rasp_script_test(terminal.generate cli/generate_terminal_test.py $<TARGET_FILE:rasp>)
rasp_script_test(attention.files cli/attention_files_test.py $<TARGET_FILE:rasp>)
rasp_script_test(puzzles.packs puzzles/packs_test.py $<TARGET_FILE:rasp>
  ${PROJECT_SOURCE_DIR}/examples)
rasp_unit_tests(cli rasp_cli)

# Random sessions, for a few seconds; `repl_fuzz SECONDS [SEED]` by hand.
add_executable(repl_fuzz fuzz/repl_fuzz.cc fuzz/repl_fuzz_main.cc)
target_link_libraries(repl_fuzz PRIVATE rasp_cli)
add_test(NAME fuzz.repl COMMAND repl_fuzz 3)

# What find_package(raspkit) finds; sanitized archives would need a sanitized consumer.
if(NOT RASP_SANITIZE)
  rasp_script_test(install install/install_test.py ${CMAKE_COMMAND} ${PROJECT_BINARY_DIR}
    ${CMAKE_CXX_COMPILER})
endif()
