# What a tool pays for before its first line runs: one at a fixed address has no tables to relocate, and one that holds
# libyaml and zlib, where their archives are, loads libc and libm alone. A plugin is two mappings, code and data, and
# neither changes its rights.
. "$TEST_ROOT/tests/shell.sh"
! is_sanitized || exit 0
readelf -hW "$TEST_BUILD/bin/pto-opt" | grep -q 'Type: *EXEC ' || complain 'pto-opt has no fixed address'
case $(cc -print-file-name=libyaml.a) in
/*)
  readelf -dW "$TEST_BUILD/bin/pto-opt" | sed -n 's/.*NEEDED.*\[\(.*\)\]/\1/p' | sort >needed
  printf '%s\n' libc.so.6 libm.so.6 | cmp needed - || complain 'pto-opt loads more'
  ;;
esac
for plugin in "$TEST_BUILD"/lib/pto/plugins-1/*.so; do
  readelf -lW "$plugin" | awk '$1 == "LOAD" { mappings++ } $1 == "GNU_RELRO" { relro++ } END { exit mappings != 2 || relro != 0 }' ||
    complain "$plugin"
done
