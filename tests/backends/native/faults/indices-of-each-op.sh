# Each op that goes by indices: one that is out of range is a fault at that op, with the index and the extent, whatever
# its instances do, and of the first instance that has one; the run after it is well.
. "$TEST_ROOT/tests/shell.sh"
/usr/bin/python3 - <<'END_OF_PYTHON' || exit 1
import numpy as np

OPS = {
    "cross_entropy": ("%x: tensor<3 x 5 x f32>", (3,), "%x, %i", "", "3"),
    "embedding": ("%x: tensor<5 x 16 x f32>", (3,), "%x, %i", "", "3 x 16"),
    "take": ("%x: tensor<4 x 5 x 6 x f32>", (3,), "%x, %i", " {axis = 1}", "4 x 3 x 6"),
    "gather": ("%x: tensor<4 x 5 x f32>", (4, 3), "%x, %i", " {axis = 1}", "4 x 3"),
    "scatter": ("%x: tensor<3 x 5 x f32>, %v: tensor<3 x 7 x f32>", (3, 7), "%x, %i, %v", " {axis = 1}", "3 x 5"),
    "scatter_update": ("%x: tensor<5 x 3 x f32>, %v: tensor<2 x 3 x f32>", (2,), "%x, %i, %v", " {axis = 0}", "5 x 3"),
    "index_add": ("%x: tensor<5 x 3 x f32>, %v: tensor<2 x 3 x f32>", (2,), "%x, %i, %v", " {axis = 0}", "5 x 3"),
    "index_put": ("%x: tensor<5 x 3 x f32>, %v: tensor<2 x 3 x f32>", (2,), "%x, %v, %i", "", "5 x 3"),
}
with open("ops.ptir", "w") as file:
    for op, (more, dims, operands, attributes, result) in OPS.items():
        index = " x ".join(map(str, dims))
        file.write(f"func @{op}({more}, %i: tensor<{index} x i64>) -> tensor<{result} x f32> {{\n"
                   f"  %y = tensor.{op} {operands}{attributes} : tensor<{result} x f32>\n  return %y\n}}\n")
        for name, at in ("above", 5), ("below", -2), ("far", 5_000_000_000), ("last", 4):
            i = np.zeros(dims, np.int64)
            i.flat[1] = at
            np.save(f"{op}-{name}.npy", i)
many = np.zeros(4096, np.int64)
many[1000:] = np.arange(3096) + 5
np.save("many.npy", many)
END_OF_PYTHON
line=2
# at OP NAME SENTENCE: with the indices of that name.
at() {
  ends 5 pto-run ops.ptir --pipeline=native.yaml --entry="$1" --random-inputs=1 --in=i="$1-$2.npy"
  says "ops.ptir:$line:8: error: \[pto.native/fault\] \`tile\.[a-z]*\` $3"
}
for op in cross_entropy embedding take gather scatter scatter_update index_add index_put; do
  at $op above '[a-z ]*: index 5 is out of the extent 5 \['
  at $op below '[a-z ]*: index -2 is out of the extent 5 \['
  ends 0 pto-run ops.ptir --pipeline=native.yaml --entry=$op --random-inputs=1 --in=i="$op-last.npy"
  line=$((line + 4))
done
line=10
at take far 'reaches beyond the extent of the memory: index 5000000000 is out of the extent 5 \['
# Of many threads that fail at the same time it is the first instance.
cat >many.ptir <<'END'
func @f(%x: tensor<5 x 3 x f32>, %i: tensor<4096 x i64>) -> tensor<4096 x 3 x f32> {
  %y = tensor.take %x, %i {axis = 0} : tensor<4096 x 3 x f32>
  return %y
}
END
for threads in 1 8; do
  ends 5 pto-run many.ptir --pipeline=native.yaml --set=backend.with.threads=$threads --random-inputs=1 --in=i=many.npy
  says 'many.ptir:2:8: error: .* index 5 is out of the extent 5 \['
done
