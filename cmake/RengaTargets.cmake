# SPDX-License-Identifier: Apache-2.0
# renga_module(name SOURCES ... LINK ... PRIVATE_LINK ...): one library for one folder of include/renga and src.

set(RENGA_COMPILE_OPTIONS -Wall -Wextra -Wshadow -Wnon-virtual-dtor -Woverloaded-virtual -Wold-style-cast
    -Wno-unknown-pragmas)
if(RENGA_WARNINGS_AS_ERRORS)
  list(APPEND RENGA_COMPILE_OPTIONS -Werror)
endif()

# The settings every target of this project is compiled with.
add_library(renga_settings INTERFACE)
target_compile_features(renga_settings INTERFACE cxx_std_20)
# -fPIC for programs, too: a precompiled header fits only what is compiled with the same options.
target_compile_options(renga_settings INTERFACE ${RENGA_COMPILE_OPTIONS} -fPIC)
target_include_directories(renga_settings INTERFACE ${PROJECT_SOURCE_DIR}/include ${PROJECT_SOURCE_DIR})
if(RENGA_SANITIZER)
  # Undefined behaviour ends the program, as bad addresses do: a message alone would pass a test.
  target_compile_options(renga_settings INTERFACE -fsanitize=${RENGA_SANITIZER} -fno-sanitize-recover=all
    -fno-omit-frame-pointer)
  target_link_options(renga_settings INTERFACE -fsanitize=${RENGA_SANITIZER})
endif()

# One precompiled header, made once: LibTorch's headers take longer to parse than any of our files.
file(CONFIGURE OUTPUT ${PROJECT_BINARY_DIR}/pch.cpp CONTENT "// The precompiled header is made for this file.\n")
add_library(renga_pch OBJECT ${PROJECT_BINARY_DIR}/pch.cpp)
target_link_libraries(renga_pch PRIVATE renga_settings renga_torch)
target_precompile_headers(renga_pch PRIVATE <torch/torch.h> <torch/library.h> <ATen/ATen.h>)

function(renga_use_pch target)
  set_target_properties(${target} PROPERTIES POSITION_INDEPENDENT_CODE OFF)
  target_precompile_headers(${target} REUSE_FROM renga_pch)
endfunction()

function(renga_module name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "NO_PCH" "" "SOURCES;LINK;PRIVATE_LINK")
  add_library(renga_${name} ${arg_SOURCES})
  add_library(renga::${name} ALIAS renga_${name})
  set_target_properties(renga_${name} PROPERTIES EXPORT_NAME ${name})
  target_compile_features(renga_${name} PUBLIC cxx_std_20)
  target_include_directories(renga_${name} PUBLIC
    $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include> $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
  target_link_libraries(renga_${name} PUBLIC ${arg_LINK} PRIVATE $<BUILD_INTERFACE:renga_settings> ${arg_PRIVATE_LINK})
  if(NOT arg_NO_PCH)
    renga_use_pch(renga_${name})
  endif()
endfunction()
