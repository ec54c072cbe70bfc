# cmake -DFILE=plugin.so -DID=org.acme.copies -P PTOCheckPluginId.cmake: fails unless the file carries that id.
string(REPLACE "." "\\." pattern "${ID}")
file(STRINGS "${FILE}" found REGEX "${pattern}" LIMIT_COUNT 1)
if(NOT found)
  file(REMOVE "${FILE}")
  message(FATAL_ERROR "${FILE} does not carry the id '${ID}' that pto_add_plugin was given: "
    "make ID equal to .id in PTO_PLUGIN(...)")
endif()
