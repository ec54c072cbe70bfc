# What pto.emit-ascend writes for the assembler is read back, of examples of which it writes every kernel: the same
# text again, byte by byte, and on the simulator the same bits and the same counters. A pointer that a kernel sees in
# two shapes is two parameters where it is read, so sinkhorn_premix is none of them.
. "$TEST_ROOT/tests/shell.sh"
here=$TEST_ROOT/tests/readers/read-ascend/inputs
pipeline=$TEST_ROOT/tests/generators/emit-ascend/inputs/emit.yaml
build=$(dirname "$(dirname "$(command -v pto-opt)")")
is_sanitized && most=5 || most=100
kernels=0
for pair in $(head -n "$most" "$here/modules.txt"); do
  folder=${pair%%/*} module=${pair%%:*} case=${pair##*:}
  rm -rf before after
  ends 0 /usr/bin/python3 -B "$here/round_trip.py" "$build" "$pipeline" "$TEST_ROOT/examples/$module.ptir" \
    "$TEST_ROOT/examples/$folder/$case.yaml" small
  kernels=$((kernels + $(sed -n 's/ kernels$//p' out)))
done
echo "$kernels kernels"
is_sanitized || [ "$kernels" -ge 165 ] || fail "$kernels kernels"
