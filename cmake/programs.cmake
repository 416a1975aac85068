# What our own tests, examples and benchmarks share; nothing here reaches users of the library.
find_package(Threads REQUIRED)

# Strict warnings and, where asked for, sanitizers.
add_library(calque_strict INTERFACE)
target_link_libraries(calque_strict INTERFACE calque::calque Threads::Threads)
target_compile_options(calque_strict INTERFACE -Wall -Wextra -Wconversion -Werror)
if(CALQUE_SANITIZE)
  target_compile_options(calque_strict INTERFACE
    -fsanitize=${CALQUE_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer -g1)
  target_link_options(calque_strict INTERFACE -fsanitize=${CALQUE_SANITIZE})
endif()

# The planner, compiled once for all tests; examples and benchmarks compile it like any user's file.
add_library(calque_planner OBJECT ${PROJECT_SOURCE_DIR}/cmake/separate_planner.cpp)
target_link_libraries(calque_planner PUBLIC calque_strict)
target_compile_definitions(calque_planner PUBLIC CALQUE_SEPARATE_PLANNER)

# Counts the heap and mmap calls of a program that links it; see its header.
add_library(calque_allocation_counter OBJECT
  ${PROJECT_SOURCE_DIR}/tests/allocation_counter/allocation_counter.cpp)
target_link_libraries(calque_allocation_counter PUBLIC calque_strict)
target_include_directories(calque_allocation_counter PUBLIC ${PROJECT_SOURCE_DIR}/tests)

# Compilers that the checks of messages, headers and installation run with.
find_program(CALQUE_GXX NAMES g++ g++-12 DOC "g++ for checks that call a compiler directly")
find_program(CALQUE_CLANGXX NAMES clang++ clang++-14 DOC "clang++ for the same checks")
find_program(CALQUE_NVCC NAMES nvcc HINTS /usr/local/cuda/bin DOC "nvcc; optional")
set(CALQUE_CUDA_ARCH "sm_90" CACHE STRING "What nvcc compiles for, as in -arch=")
set(calque_host_compilers ${CALQUE_GXX} ${CALQUE_CLANGXX})

# Adds a test that only says why it cannot run.
function(calque_skipped_test name reason)
  add_test(NAME "${name} (skipped: ${reason})"
    COMMAND ${CMAKE_COMMAND} -P ${PROJECT_SOURCE_DIR}/cmake/skip.cmake "${reason}")
  set_tests_properties("${name} (skipped: ${reason})" PROPERTIES
    SKIP_REGULAR_EXPRESSION "skipped: " LABELS "${ARGN}")
endfunction()

# calque_nvcc_test(<name> <file.cu> [RUN] [SOURCES more.cu ...] [FLAGS ...] [LABELS ...])
# Compiles with nvcc as a test of its own, without the CUDA language in CMake: the toolkit stays
# optional. With RUN the program is linked, and a second test runs it where there is a GPU.
function(calque_nvcc_test name file)
  cmake_parse_arguments(PARSE_ARGV 2 arg "RUN" "" "SOURCES;FLAGS;LABELS")
  set(labels ${arg_LABELS})
  if(NOT labels)
    set(labels nvcc)
  endif()
  if(NOT CALQUE_NVCC)
    calque_skipped_test(${name} "no nvcc" ${labels})
    return()
  endif()
  string(MAKE_C_IDENTIFIER ${name} id)
  set(output ${CMAKE_CURRENT_BINARY_DIR}/${id})
  set(mode -c -o ${output}.o)
  if(arg_RUN)
    set(mode -o ${output})
  endif()
  add_test(NAME ${name} WORKING_DIRECTORY ${CMAKE_CURRENT_SOURCE_DIR} COMMAND ${CALQUE_NVCC}
    -std=c++20 -O2 -arch=${CALQUE_CUDA_ARCH} -Wno-deprecated-gpu-targets -Xcompiler=-Wall,-Wextra
    -Werror all-warnings -I ${PROJECT_SOURCE_DIR}/include -I ${PROJECT_SOURCE_DIR}/tests
    ${arg_FLAGS} ${file} ${arg_SOURCES} ${mode})
  set_tests_properties(${name} PROPERTIES LABELS "${labels}" TIMEOUT 600)
  if(arg_RUN)
    set_tests_properties(${name} PROPERTIES FIXTURES_SETUP ${id})
    set(run "${name}/run (needs a GPU)")
    add_test(NAME ${run} COMMAND ${PROJECT_SOURCE_DIR}/scripts/on-gpu ${output})
    set_tests_properties(${run} PROPERTIES
      FIXTURES_REQUIRED ${id} SKIP_RETURN_CODE 77 LABELS "${labels}")
  endif()
endfunction()
