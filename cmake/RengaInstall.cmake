# SPDX-License-Identifier: Apache-2.0
# `cmake --install build`: libraries, headers, the program, and a package for find_package(renga).
include(CMakePackageConfigHelpers)

set(RENGA_PACKAGE_DIR ${CMAKE_INSTALL_LIBDIR}/cmake/renga)

# LibTorch is where the user's system has it: its include folders go to the package file by way of
# find_package(Torch), never as the paths of the machine that built renga.
if(TARGET renga_torch)
  set_target_properties(renga_torch PROPERTIES EXPORT_NAME torch)
  foreach(property INTERFACE_INCLUDE_DIRECTORIES INTERFACE_SYSTEM_INCLUDE_DIRECTORIES)
    get_target_property(folders renga_torch ${property})
    if(folders)
      set_target_properties(renga_torch PROPERTIES ${property} "$<BUILD_INTERFACE:${folders}>")
    endif()
  endforeach()
endif()

# Models are included as "models/NAME.hpp"; a folder of their own keeps that name out of the system's.
if(TARGET renga_models)
  target_include_directories(renga_models PUBLIC $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}/renga-models>)
  install(DIRECTORY ${PROJECT_SOURCE_DIR}/models DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/renga-models
    FILES_MATCHING PATTERN "*.hpp")
endif()

foreach(target torch core comm mesh tensor ops parallel data checkpoint train models all)
  if(TARGET renga_${target})
    install(TARGETS renga_${target} EXPORT rengaTargets ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR}
      LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
  endif()
endforeach()
install(EXPORT rengaTargets NAMESPACE renga:: DESTINATION ${RENGA_PACKAGE_DIR})
install(DIRECTORY ${PROJECT_SOURCE_DIR}/include/renga DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}
  FILES_MATCHING PATTERN "*.hpp")

configure_package_config_file(${CMAKE_CURRENT_LIST_DIR}/rengaConfig.cmake.in ${PROJECT_BINARY_DIR}/rengaConfig.cmake
  INSTALL_DESTINATION ${RENGA_PACKAGE_DIR} NO_SET_AND_CHECK_MACRO)
write_basic_package_version_file(${PROJECT_BINARY_DIR}/rengaConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/rengaConfig.cmake ${PROJECT_BINARY_DIR}/rengaConfigVersion.cmake
  DESTINATION ${RENGA_PACKAGE_DIR})

foreach(program renga renga_program renga_app)
  if(TARGET ${program})
    get_target_property(type ${program} TYPE)
    if(type STREQUAL EXECUTABLE)
      install(TARGETS ${program} RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
    endif()
  endif()
endforeach()
