# An output is called what the user's text calls it, whatever passes make of the value; in a dump that is run by itself
# too.
. "$TEST_ROOT/tests/shell.sh"
cat >m.ptir <<'EOF'
func @f(%x: tensor<5 x 33 x bf16>) -> (tensor<5 x bf16>, tensor<5 x 33 x bf16>, tensor<5 x 33 x bf16>) {
  %m = tensor.reduce_max %x {axis = 1, keepdim = false} : tensor<5 x bf16>
  %a = tensor.abs %x : tensor<5 x 33 x bf16>
  %b = tensor.abs %x : tensor<5 x 33 x bf16>
  return %m, %b, %x
}
EOF
for pipeline in reference default; do
  pto-run m.ptir --pipeline=$pipeline.yaml --random-inputs=1 --out m=$pipeline-m.npy --out b=$pipeline-b.npy --out x=$pipeline-x.npy \
    >text 2>&1 || fail
done
for output in m b x; do
  cmp reference-$output.npy default-$output.npy || exit 1
done
cmp default-b.npy default-x.npy >/dev/null && exit 1
ends 4 pto-run m.ptir --random-inputs=1 --out n=n.npy
for output in m b x; do
  grep -q "^note: output \`$output\`$" text || fail
done

# Each dump, in a new process: %b was merged with %a, the results became parameters, and one of them is the input.
pto-opt m.ptir --pipeline=default.yaml --dump-dir=dumps -o final.ptir || exit 1
grep -q 'func @f(%x: gm<5 x 33 x bf16>, out %m: gm<5 x bf16>, out %a: gm<5 x 33 x bf16>, out %x0: gm<5 x 33 x bf16>) {outputs = \["m", "b", "x"\]} {' final.ptir ||
  { echo "the final module does not say what its outputs are called"; grep func final.ptir; exit 1; }
count=0
for dump in dumps/*.ptir; do
  count=$((count + 1))
  pto-run "$dump" --backend=pto.reference --random-inputs=1 --expect m=reference-m.npy --expect b=reference-b.npy --expect x=reference-x.npy >text 2>&1 ||
    fail "$dump"
  [ "$(grep -c ': ok, max abs error 0,' text)" -eq 3 ] || fail "$dump"
  # As text, in both forms, and on from there.
  pto-opt "$dump" | cmp - "$dump" && pto-opt "$dump" --print-generic -o generic.mlir && pto-opt generic.mlir | cmp - "$dump" || exit 1
done
[ "$count" -gt 10 ] || exit 1
pto-opt m.ptir --pipeline=default.yaml --until=fuse -o part.ptir && pto-opt part.ptir --pipeline=default.yaml --from=tile | cmp - final.ptir || exit 1

# Where the values keep their names nothing is said; out parameters and results have one list.
negation >plain.ptir
pto-opt plain.ptir --pipeline=default.yaml | grep -q outputs && fail "names that nobody needs"
cat >both.ptir <<'EOF'
func @f(%x: gm<4 x f32>, out %p: gm<4 x f32>, inout %q: gm<4 x f32>) -> gm<4 x f32> {outputs = ["first", "second"]} {
  %t = tile.load %x[0] size(1, 4) : tile<1 x 8 x f32, vec, nd>
  tile.store %t, %p[0]
  return %x
}
EOF
pto-run both.ptir --backend=pto.reference --random-inputs=1 --out first=first.npy --out second=second.npy --out q=q.npy >text 2>&1 || fail
cmp first.npy second.npy || exit 1
ends 4 pto-run both.ptir --backend=pto.reference --random-inputs=1 --out p=p.npy
