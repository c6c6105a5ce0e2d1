# SPDX-License-Identifier: Apache-2.0
# cmake -D BUILD=... -D WORK=... -D SOURCE=... -D CONFIG=... -D GENERATOR=... -D COMPILER=... -D LAUNCHER=... -D MPIEXEC=...
function(step)
  execute_process(COMMAND ${ARGV} COMMAND_ECHO STDOUT OUTPUT_VARIABLE output ECHO_OUTPUT_VARIABLE
    COMMAND_ERROR_IS_FATAL ANY)
  set(output "${output}" PARENT_SCOPE)
endfunction()

function(expect_output)
  if(NOT output MATCHES "sum over all ranks: 45")
    message(FATAL_ERROR "the program printed something else")
  endif()
endfunction()

file(REMOVE_RECURSE ${WORK})
step(${CMAKE_COMMAND} --install ${BUILD} --config "${CONFIG}" --prefix ${WORK}/prefix)

# A package that works only where it was built is none.
file(GLOB_RECURSE package ${WORK}/prefix/*.cmake)
foreach(file IN LISTS package)
  file(READ ${file} content)
  string(FIND "${content}" "${BUILD}" position)
  if(NOT position EQUAL -1)
    message(FATAL_ERROR "${file} names the build folder ${BUILD}")
  endif()
endforeach()

step(${CMAKE_COMMAND} -S ${SOURCE} -B ${WORK}/build -G ${GENERATOR} -D CMAKE_BUILD_TYPE=${CONFIG}
  -D CMAKE_CXX_COMPILER=${COMPILER} -D CMAKE_CXX_COMPILER_LAUNCHER=${LAUNCHER} -D CMAKE_PREFIX_PATH=${WORK}/prefix)
step(${CMAKE_COMMAND} --build ${WORK}/build)
step(${WORK}/build/consumer)
expect_output()
step(${MPIEXEC} -n 2 ${WORK}/build/consumer)
expect_output()
