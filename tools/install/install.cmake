# Installation and cpack's package. Folders are those of GNUInstallDirs.

set(tmerge_plugin_folder ${CMAKE_INSTALL_LIBDIR}/tmerge/plugin)
set(tmerge_man_folder ${CMAKE_INSTALL_MANDIR}/man1)
set(tmerge_bash_folder ${CMAKE_INSTALL_DATADIR}/bash-completion/completions)
set(tmerge_zsh_folder ${CMAKE_INSTALL_DATADIR}/zsh/site-functions)

# The plugin's folder relative to the program's, so that the tree can be moved as a whole.
file(RELATIVE_PATH place ${CMAKE_INSTALL_FULL_BINDIR}
     ${CMAKE_INSTALL_FULL_LIBDIR}/tmerge/plugin)
target_compile_definitions(tmerge PRIVATE TMERGE_PLUGIN_PLACE="${place}")

# The installed programs find libraries outside of system folders where the linker did.
set(libraries ${MPI_C_LIBRARIES} ${HDF5_C_LIBRARIES})
foreach(library CJSON ISAL MICROHTTPD SQLITE3 ZSTD)
  list(APPEND libraries ${${library}_LINK_LIBRARIES})
endforeach()
set(folders)
foreach(library ${libraries})
  if(TARGET ${library})
    get_target_property(library ${library} LOCATION)
  endif()
  if(IS_ABSOLUTE "${library}")
    file(REAL_PATH ${library} library)
    cmake_path(GET library PARENT_PATH folder)
    list(APPEND folders ${folder})
  endif()
endforeach()
list(REMOVE_DUPLICATES folders)
list(REMOVE_ITEM folders ${CMAKE_C_IMPLICIT_LINK_DIRECTORIES})
set_target_properties(tmerge tmerge-synth tmerge_h5zstd PROPERTIES INSTALL_RPATH "${folders}")

# The program itself generates the manual and the completions from its table of commands.
set(about ${PROJECT_SOURCE_DIR}/tools/tmerge/about)
set(made ${PROJECT_BINARY_DIR}/made)
file(MAKE_DIRECTORY ${made})
add_custom_command(
  OUTPUT ${made}/tmerge.1 ${made}/tmerge-synth.1 ${made}/tmerge ${made}/_tmerge
  COMMAND tmerge --generate=man > ${made}/tmerge.1
  COMMAND ${CMAKE_COMMAND} -DPROGRAM=$<TARGET_FILE:tmerge-synth> -DVERSION=${PROJECT_VERSION}
          -DOUT=${made}/tmerge-synth.1 -P ${CMAKE_CURRENT_LIST_DIR}/synth_manual.cmake
  COMMAND tmerge --generate=bash > ${made}/tables.bash
  COMMAND tmerge --generate=zsh > ${made}/tables.zsh
  COMMAND ${CMAKE_COMMAND} -E cat ${made}/tables.bash ${about}/completion.bash > ${made}/tmerge
  COMMAND ${CMAKE_COMMAND} -E cat ${made}/tables.zsh ${about}/completion.zsh > ${made}/_tmerge
  DEPENDS tmerge tmerge-synth ${about}/completion.bash ${about}/completion.zsh
          ${CMAKE_CURRENT_LIST_DIR}/synth_manual.cmake
  COMMENT "Making the manual and the completions"
  VERBATIM)
add_custom_target(tmerge_made ALL DEPENDS ${made}/tmerge.1)

install(TARGETS tmerge tmerge-synth RUNTIME)
install(TARGETS tmerge_h5zstd LIBRARY DESTINATION ${tmerge_plugin_folder})
install(FILES ${made}/tmerge.1 ${made}/tmerge-synth.1 DESTINATION ${tmerge_man_folder})
install(FILES ${made}/tmerge DESTINATION ${tmerge_bash_folder})
install(FILES ${made}/_tmerge DESTINATION ${tmerge_zsh_folder})
install(FILES README.md CHANGELOG.md CONTRIBUTING.md SECURITY.md SKILL.md LICENSE
        DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(DIRECTORY docs DESTINATION ${CMAKE_INSTALL_DOCDIR})

# cpack -G DEB. Debian's requirements are met in deb.cmake and deb_tree.cmake.
set(CPACK_PACKAGE_NAME tmerge)
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "merge and analyse profiler traces of distributed jobs")
set(CPACK_PACKAGE_VENDOR "")
set(CPACK_GENERATOR DEB)
set(CPACK_STRIP_FILES ON)
set(CPACK_PROJECT_CONFIG_FILE ${CMAKE_CURRENT_LIST_DIR}/deb.cmake)
set(CPACK_PRE_BUILD_SCRIPTS ${CMAKE_CURRENT_LIST_DIR}/deb_tree.cmake)
set(CPACK_TMERGE_LIBDIR ${CMAKE_INSTALL_LIBDIR})
set(CPACK_TMERGE_MULTIARCH ${CMAKE_LIBRARY_ARCHITECTURE})
include(CPack)
