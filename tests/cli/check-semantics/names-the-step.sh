# The first step after which the numbers are others is named by plugin, step and line of the pipeline, with the output,
# the element, both values, the error and its limit. Without the check nobody sees it.
. "$TEST_ROOT/tests/shell.sh"
. "$TEST_ROOT/tests/cli/check-semantics/inputs/liar.sh"
checked 6 f.ptir scales
says "${blames}scales of plugin $liar) changed the numbers: \`y\` of @f at \[[0-9]*, [0-7]\] was [0-9.-]* and is [0-9.-]*, error [0-9.]*, limit 0$"
says "note: 296 of 296 elements are beyond their limit; the pass declares exact numerics, so that no bit may change$"
says 'note: @f was run on random inputs, seed 1, \$N = 37$'
ends 0 pto-opt f.ptir "$numbers" --pipeline=p.yaml -o out.ptir
