# Forms of products, quantising and its kin keep their numbers through every step of the default pipeline: what is exact
# bit for bit, sums within their bounds.
. "$TEST_ROOT/tests/shell.sh"
program=$TEST_ROOT/tests/cli/check-semantics/inputs/products-and-quantisation.ptir
ends 0 pto-opt "$program" --pipeline=default.yaml --check=semantics -o out.ptir
says '^semantics: steps that changed the module and not the numbers: [1-9][0-9]*, bit for bit: [1-9]'
for name in scaled vector blocks integers inexact; do
  says_line "semantics: @$name on extreme inputs"
done
