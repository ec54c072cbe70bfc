# What is emitted of a large module is longer than what people write, and is read back all the same.
. "$TEST_ROOT/tests/shell.sh"
awk 'BEGIN {
  t = "tensor<$B x 256 x f32>"
  printf "func @f(%%x: %s) -> %s {\n  %%u0 = tensor.neg %%x : %s\n", t, t, t
  for (i = 1; i < 4000; i++) printf "  %%u%d = tensor.%s %%u%d, %%x : %s\n", i, i % 2 ? "add" : "mul", i - 1, t
  printf "  return %%u3999\n}\n"
}' >m.ptir
pto-opt m.ptir --pipeline=default.yaml --emit-schedule=s.yaml -o plain.ptir || exit 1
pin_all s.yaml >p.yaml
[ "$(wc -c <p.yaml)" -gt 300000 ] || fail "only $(wc -c <p.yaml) bytes"
pto-opt m.ptir --pipeline=default.yaml --schedule=p.yaml -o pinned.ptir || exit 1
cmp plain.ptir pinned.ptir
