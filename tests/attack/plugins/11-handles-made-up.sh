# The number in a handle of a type, attribute, expression or location must be one that there is.
. "$TEST_ROOT/tests/shell.sh"
negation >m.ptir
for what in 'a type' 'an attribute' 'an expression' 'a location'; do
  fails 5 "error: \[E1320\] pass \`test.hostile-handles\` of plugin \`test.hostile-handles\` made a handle of $what by itself" \
    pto-opt m.ptir --plugin="$TEST_PLUGINS/hostile-handles.so" --passes="test.hostile-handles{way=forge_${what#* }}"
done
