# Casts between all types, saturated and not, of the numbers at which types end: as a machine computes them that takes
# them apart, they are what the definition of the types says.
. "$TEST_ROOT/tests/shell.sh"
for machine in cpu-generic ascend-910b ascend-950; do
  is_sanitized && [ "$machine" != ascend-910b ] && continue
  ends 0 /usr/bin/python3 -B "$TEST_ROOT/tests/passes/legalize-types/inputs/edge_casts.py" "$machine"
  says '^[1-9][0-9][0-9]* casts, 0 wrong$' out
done
