# SPDX-License-Identifier: Apache-2.0
# Finds what renga is built on and wraps it in targets with system includes.
find_package(Threads REQUIRED)
# LibTorch's own config adds include folders and flags globally; only its target is used here.
find_package(Torch REQUIRED)
add_library(renga_torch INTERFACE)
target_link_libraries(renga_torch INTERFACE torch torch_cpu c10)
target_include_directories(renga_torch SYSTEM INTERFACE ${TORCH_INCLUDE_DIRS})
add_library(renga::torch ALIAS renga_torch)

if(RENGA_WITH_MPI)
  set(MPI_CXX_SKIP_MPICXX ON)
  find_package(MPI REQUIRED COMPONENTS CXX)
endif()
find_package(spdlog REQUIRED)
find_package(nlohmann_json REQUIRED)
find_package(ZLIB REQUIRED)
find_package(PNG REQUIRED)
if(RENGA_BUILD_APPS)
  find_package(CLI11 REQUIRED)
endif()
