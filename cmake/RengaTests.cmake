# SPDX-License-Identifier: Apache-2.0
# renga_test(name SOURCES … LINK … [RANKS 1 2 3 4] [LABELS …] [TIMEOUT seconds] [NO_PCH])
#
# With RANKS the program is started once for each number under mpiexec, as test name.npN with label mpi;
# without, it runs alone, as test name with label unit.
# Open MPI sleeps the whole sigkill timeout after an abort, also when all processes are gone: whoever runs
# the tests may have raised it.
set(RENGA_MPI_TEST_ENVIRONMENT
  OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_rmaps_base_oversubscribe=1
  OMPI_MCA_hwloc_base_binding_policy=none OMPI_MCA_mpi_yield_when_idle=1
  OMPI_MCA_btl_vader_single_copy_mechanism=none OMPI_MCA_odls_base_sigkill_timeout=1
  OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1)
# From Open MPI 5 on, another program (PRRTE) starts processes; its variables have changed names since.
execute_process(COMMAND ${MPIEXEC_EXECUTABLE} --version OUTPUT_VARIABLE mpiexec_version ERROR_QUIET)
if(mpiexec_version MATCHES "Open MPI\\) 5\\.")
  list(APPEND RENGA_MPI_TEST_ENVIRONMENT PRTE_MCA_rmaps_default_mapping_policy=:oversubscribe
    PRTE_MCA_hwloc_default_binding_policy=none OMPI_MCA_smsc=^cma)
elseif(mpiexec_version MATCHES "Open MPI\\) [6-9]\\.")
  list(APPEND RENGA_MPI_TEST_ENVIRONMENT PRTE_MCA_mapby=:oversubscribe PRTE_MCA_bindto=none OMPI_MCA_smsc=^cma)
endif()

# Open MPI keeps memory of plugins that it has unloaded by the time leaks are looked for: nothing can name them then.
if(RENGA_SANITIZER)
  list(APPEND RENGA_MPI_TEST_ENVIRONMENT ASAN_OPTIONS=detect_leaks=0:detect_stack_use_after_return=1)
endif()

function(renga_test name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "NO_PCH" "TIMEOUT" "SOURCES;LINK;RANKS;LABELS")
  string(REPLACE "." "_" target "test_${name}")
  add_executable(${target} ${arg_SOURCES})
  target_link_libraries(${target} PRIVATE renga_settings ${arg_LINK} GTest::gtest)
  if(NOT arg_NO_PCH)
    renga_use_pch(${target})
  endif()
  if(NOT arg_TIMEOUT)
    set(arg_TIMEOUT 120)
  endif()
  if(NOT arg_RANKS)
    target_link_libraries(${target} PRIVATE GTest::gtest_main)
    add_test(NAME ${name} COMMAND ${target})
    set_tests_properties(${name} PROPERTIES LABELS "unit;${arg_LABELS}" TIMEOUT ${arg_TIMEOUT}
      ENVIRONMENT "OMP_NUM_THREADS=1;OPENBLAS_NUM_THREADS=1")
    return()
  endif()
  target_link_libraries(${target} PRIVATE renga_test_main)
  foreach(ranks IN LISTS arg_RANKS)
    add_test(NAME ${name}.np${ranks}
      COMMAND ${MPIEXEC_EXECUTABLE} ${MPIEXEC_NUMPROC_FLAG} ${ranks} $<TARGET_FILE:${target}>)
    set_tests_properties(${name}.np${ranks} PROPERTIES
      LABELS "mpi;${arg_LABELS}" TIMEOUT ${arg_TIMEOUT} PROCESSORS ${ranks}
      ENVIRONMENT "${RENGA_MPI_TEST_ENVIRONMENT};RENGA_CHECK=1;RENGA_TIMEOUT=60")
  endforeach()
endfunction()
