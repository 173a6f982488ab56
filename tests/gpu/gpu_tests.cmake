# The tests of backends, on every backend that is here; those without a device say that they are skipped.
set(gpu_tests attention_test decode_test model_test nvrtc_test)
foreach(test IN LISTS gpu_tests)
  list(APPEND gpu_sources gpu/${test}.cc)
endforeach()
add_executable(test_gpu ${gpu_sources})
target_include_directories(test_gpu PRIVATE ${CMAKE_CURRENT_SOURCE_DIR}/runtime)
target_link_libraries(test_gpu PRIVATE rasp_runtime GTest::gtest_main GTest::gmock)
add_test(NAME unit.gpu COMMAND test_gpu)
