# The tests of backends, on every backend that is here; those without a device say that they are
# skipped. Each kernel is compiled at its first use, which takes OpenCL on a CPU seconds, and with
# sanitizers in the process many more: there only the tests of models run.
set(gpu_sources "")
foreach(test arithmetic_test attention_test decode_test device_test model_test nvrtc_test)
  list(APPEND gpu_sources gpu/${test}.cc)
endforeach()
add_executable(test_gpu ${gpu_sources})
target_include_directories(test_gpu PRIVATE ${CMAKE_CURRENT_SOURCE_DIR}/runtime)
target_link_libraries(test_gpu PRIVATE rasp_runtime GTest::gtest_main GTest::gmock)
function(rasp_gpu_test name filter)
  add_test(NAME gpu.${name} COMMAND test_gpu --gtest_filter=${filter})
  set_tests_properties(gpu.${name} PROPERTIES ENVIRONMENT
    "LSAN_OPTIONS=suppressions=${CMAKE_CURRENT_SOURCE_DIR}/gpu/leaks.supp:print_suppressions=0")
  if(RASP_SANITIZE AND NOT name STREQUAL models)
    set_tests_properties(gpu.${name} PROPERTIES LABELS slow)
  endif()
endfunction()
rasp_gpu_test(attention *BackendAttention.*)
rasp_gpu_test(decode *BackendDecoding.*)
rasp_gpu_test(models *BackendModels.*:*ChoosingABackend.*:CacheFiles.*)
rasp_gpu_test(devices *Devices.*:*Cache.*:*Arithmetic.*)
rasp_gpu_test(nvrtc *Nvrtc.*)

if(NOT RASP_RUNTIME_ONLY)
  add_executable(test_gpu_corpus gpu/corpus_test.cc)
  target_link_libraries(test_gpu_corpus PRIVATE rasp_compiler rasp_interpreter rasp_runtime rasp_lang
    GTest::gtest_main)
  target_compile_definitions(test_gpu_corpus PRIVATE RASP_EXAMPLES="${PROJECT_SOURCE_DIR}/examples")
  add_test(NAME gpu.corpus COMMAND test_gpu_corpus)
  if(RASP_SANITIZE)
    set_tests_properties(gpu.corpus PROPERTIES LABELS slow)
  endif()
endif()

# Run by hand: tests/gpu/run.sh.
add_executable(gpu_timing gpu/gpu_timing.cc)
target_link_libraries(gpu_timing PRIVATE rasp_runtime)

# The host of cuda against a driver that is none: one library, under both of the names that it opens.
set(fake_folder ${CMAKE_CURRENT_BINARY_DIR}/fake)
add_library(fake_cuda MODULE gpu/fake_cuda.cc)
set_target_properties(fake_cuda PROPERTIES PREFIX "" SUFFIX "" OUTPUT_NAME libcuda.so.1
  LIBRARY_OUTPUT_DIRECTORY ${fake_folder})
if(RASP_SANITIZE AND CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
  # Handles are other pointers on the two sides, as with the real driver, whose calls carry no types.
  target_compile_options(fake_cuda PRIVATE -fno-sanitize=function)
endif()
add_custom_command(TARGET fake_cuda POST_BUILD
  COMMAND ${CMAKE_COMMAND} -E create_symlink libcuda.so.1 ${fake_folder}/libnvrtc.so)
add_executable(test_cuda_host gpu/cuda_host_test.cc)
target_link_libraries(test_cuda_host PRIVATE rasp_runtime GTest::gtest_main)
add_dependencies(test_cuda_host fake_cuda)
add_test(NAME gpu.cuda_host COMMAND test_cuda_host)
set_tests_properties(gpu.cuda_host PROPERTIES ENVIRONMENT
  "LD_LIBRARY_PATH=${fake_folder}")
