# The target tidy: clang-tidy over every C file that the build compiles. A file is checked anew once
# its object is older than what it is made of, so after a change only what the change reaches.
set(tidy ${PROJECT_BINARY_DIR}/tidy)
set(stamps)
foreach(folder IN ITEMS ${PROJECT_SOURCE_DIR} ${PROJECT_SOURCE_DIR}/tests)
  get_property(targets DIRECTORY ${folder} PROPERTY BUILDSYSTEM_TARGETS)
  foreach(target IN LISTS targets)
    get_target_property(files ${target} SOURCES)
    list(FILTER files INCLUDE REGEX "^[^$]*\\.c$")
    foreach(file IN LISTS files)
      cmake_path(ABSOLUTE_PATH file BASE_DIRECTORY ${folder})
      cmake_path(RELATIVE_PATH file BASE_DIRECTORY ${folder} OUTPUT_VARIABLE object)
      string(REPLACE "." "\\." object "/${object}.o$")
      set(object $<FILTER:$<TARGET_OBJECTS:${target}>,INCLUDE,${object}>)
      cmake_path(RELATIVE_PATH file BASE_DIRECTORY ${PROJECT_SOURCE_DIR} OUTPUT_VARIABLE name)
      # A file of several targets is compiled alike by them; what is generated is bytes alone.
      if(${tidy}/${name} IN_LIST stamps OR file MATCHES "^${PROJECT_BINARY_DIR}")
        continue()
      endif()
      list(APPEND stamps ${tidy}/${name})
      add_custom_command(
        OUTPUT ${tidy}/${name}
        COMMAND bash ${lint}/clang-tidy.sh ${PROJECT_BINARY_DIR} ${file} ${object}
        DEPENDS ${file} ${object} ${PROJECT_SOURCE_DIR}/.clang-tidy ${lint}/clang-tidy.sh
                ${lint}/analyzer.h
        COMMENT "clang-tidy ${name}"
        VERBATIM)
    endforeach()
  endforeach()
endforeach()
add_custom_target(
  tidy
  COMMAND bash ${lint}/clang-tidy.sh ${PROJECT_BINARY_DIR}
  DEPENDS ${stamps}
  COMMENT "clang-tidy finds what is wrong, and has checked every file"
  VERBATIM)
