# The same examples as text without addresses and flags, which pto-level2.yaml finds: the same bits on the simulator.
# Not conv2d/block: row values of one kernel are seen as a tile four times as large, for which a core has no space.
. "$TEST_ROOT/tests/shell.sh"
here=$TEST_ROOT/tests/readers/read-ascend/inputs
pipeline=$TEST_ROOT/tests/generators/emit-ascend/inputs/emit.yaml
build=$(dirname "$(dirname "$(command -v pto-opt)")")
is_sanitized && most=5 || most=100
kernels=0
for pair in $(grep -v '^conv2d/block:' "$here/modules.txt" | head -n "$most"); do
  folder=${pair%%/*} module=${pair%%:*} case=${pair##*:}
  rm -rf before after
  ends 0 /usr/bin/python3 -B "$here/round_trip.py" "$build" "$pipeline" "$TEST_ROOT/examples/$module.ptir" \
    "$TEST_ROOT/examples/$folder/$case.yaml" small --level2=pto-level2.yaml
  kernels=$((kernels + $(sed -n 's/ kernels$//p' out)))
done
echo "$kernels kernels"
is_sanitized || [ "$kernels" -ge 135 ] || fail "$kernels kernels"
