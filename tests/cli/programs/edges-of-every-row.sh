# The example of ops in their element types on NaN, infinities, zeros, denormals and limits of types, on both machines:
# the default pipeline computes what the reference does. Every eleventh pair; `./dev fuzz edges` tries all.
. "$TEST_ROOT/tests/shell.sh"
edges() { # ARGUMENT...
  ends 0 /usr/bin/python3 -B "$TEST_ROOT/tests/fuzz/edge_examples.py" --share $((TEST_SHARE * 11)) --draws 1 --keep . "$@"
  says '^[1-9][0-9]* runs, 0 refused, 0 wrong$' out
}
edges
edges --machine=cpu-generic.yaml
