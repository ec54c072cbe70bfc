# pto_add_plugin(NAME SOURCES file... ID id [ERRORS page])
#
# Builds one plugin: a module that sees the SDK headers alone, exports nothing but its entry, links to libc and libm
# only. The file is NAME.so with '_' turned into '-'. ID is the plugin's id as its note says it (reverse DNS for third
# parties, "org.acme.copies"); the build fails when the built file does not carry it. Installs to
# PTO_PLUGIN_INSTALL_DIR. The page, in Markdown, explains the plugin's diagnostic codes to `pto-inspect errors CODE`, a
# section `## CODE` for each; it is put beside the plugin, with the ending .md.
set(_PTO_CHECK_PLUGIN_ID ${CMAKE_CURRENT_LIST_DIR}/PTOCheckPluginId.cmake)

function(pto_add_plugin name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "ID;ERRORS" "SOURCES")
  if(arg_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "pto_add_plugin(${name}): unknown argument '${arg_UNPARSED_ARGUMENTS}'")
  endif()
  if(NOT arg_SOURCES OR NOT arg_ID)
    message(FATAL_ERROR "pto_add_plugin(${name}): needs SOURCES file... and ID id")
  endif()

  string(REPLACE "_" "-" output_name ${name})
  add_library(${name} MODULE ${arg_SOURCES})
  set_target_properties(${name} PROPERTIES
    PREFIX "" SUFFIX ".so" OUTPUT_NAME ${output_name} C_STANDARD 17 C_STANDARD_REQUIRED ON C_VISIBILITY_PRESET hidden
    SKIP_BUILD_RPATH ON INSTALL_RPATH "")
  target_compile_options(${name} PRIVATE -fno-common -ffp-contract=off)
  target_link_libraries(${name} PRIVATE PTO::plugin m)
  # A tool loads some 45 plugins: two mappings of each, whose rights never change, take half the time of four.
  target_link_options(${name} PRIVATE -Wl,-z,now -Wl,--as-needed -Wl,-z,norelro -Wl,-z,noseparate-code)
  # clang leaves the sanitizer's symbols in a module to the executable.
  if(NOT "${CMAKE_C_FLAGS} ${CMAKE_C_FLAGS_${CMAKE_BUILD_TYPE}}" MATCHES "-fsanitize")
    target_link_options(${name} PRIVATE -Wl,-z,defs)
  endif()
  add_custom_command(TARGET ${name} POST_BUILD VERBATIM
    COMMAND ${CMAKE_COMMAND} -DFILE=$<TARGET_FILE:${name}> -DID=${arg_ID} -P ${_PTO_CHECK_PLUGIN_ID})
  install(TARGETS ${name} LIBRARY DESTINATION ${PTO_PLUGIN_INSTALL_DIR})
  if(arg_ERRORS)
    cmake_path(ABSOLUTE_PATH arg_ERRORS OUTPUT_VARIABLE page)
    add_custom_command(TARGET ${name} POST_BUILD VERBATIM
      COMMAND ${CMAKE_COMMAND} -E copy_if_different ${page} $<TARGET_FILE_DIR:${name}>/${output_name}.md)
    install(FILES ${page} DESTINATION ${PTO_PLUGIN_INSTALL_DIR} RENAME ${output_name}.md)
  endif()
endfunction()
