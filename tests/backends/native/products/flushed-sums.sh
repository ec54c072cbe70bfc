# Products of bf16, a bias of bf16 and sums of these that are below 2^-126 may be 0, as instructions for bf16 have it:
# --compare with pto.reference allows that, and not twice the sums.
. "$TEST_ROOT/tests/shell.sh"
/usr/bin/python3 - <<'END'
import numpy as np
r = np.random.default_rng(1)
def draw(*shape): # products of two are from 2^-136 to 2^-120, or 0
    return r.choice([-1, 0, 1], shape, p=[0.45, 0.1, 0.45]) * np.exp2(r.uniform(-68, -60, shape))
def save(name, x):
    np.save(name, (x.astype(np.float32).view(np.uint32) >> 16).astype(np.uint16))
for name, shape in ("a", (19, 70)), ("b", (70, 37)), ("x", (2, 9, 9, 8)), ("w", (3, 3, 8, 5)), ("q", (2, 33, 16)), ("k", (2, 33, 16)):
    save(name, draw(*shape))
save("v", draw(2, 33, 16) * 2.0**-62)
save("c", draw(37) * 2.0**-64)
np.save("l", np.zeros((19, 70), np.float32))
END
cat >f.ptir <<'END'
func @f(%a: tensor<19 x 70 x bf16>, %b: tensor<70 x 37 x bf16>, %c: tensor<37 x bf16>, %x: tensor<2 x 9 x 9 x 8 x bf16>, %w: tensor<3 x 3 x 8 x 5 x bf16>,
        %q: tensor<2 x 33 x 16 x bf16>, %k: tensor<2 x 33 x 16 x bf16>, %v: tensor<2 x 33 x 16 x bf16>)
    -> (tensor<19 x 37 x f32>, tensor<19 x 37 x bf16>, tensor<19 x 37 x bf16>, tensor<2 x 7 x 7 x 5 x f32>, tensor<2 x 33 x 16 x bf16>) {
  %sums = tensor.matmul %a, %b {out = f32} : tensor<19 x 37 x f32>
  %rounded = tensor.matmul %a, %b {out = bf16} : tensor<19 x 37 x bf16>
  %biased = tensor.matmul %a, %b, %c {out = bf16} : tensor<19 x 37 x bf16>
  %windows = tensor.conv2d %x, %w {out = f32} : tensor<2 x 7 x 7 x 5 x f32>
  %attended = tensor.attention %q, %k, %v : tensor<2 x 33 x 16 x bf16>
  return %sums, %rounded, %biased, %windows, %attended
}
END
inputs=''
for name in a b c x w q k v; do inputs="$inputs --in $name=$name.npy"; done
for isa in host plain; do
  # shellcheck disable=SC2086
  ends 0 pto-run f.ptir --pipeline=native.yaml --set=backend.with.isa=$isa --compare=reference.yaml $inputs
  for name in sums rounded biased windows attended; do says "^$name: .* elements, the same" out; done
done

# exp of l is 1; the liar multiplies it.
cat >g.ptir <<'END'
func @g(%a: tensor<19 x 70 x bf16>, %b: tensor<70 x 37 x bf16>, %l: tensor<19 x 70 x f32>) -> tensor<19 x 37 x f32> {
  %one = tensor.exp %l : tensor<19 x 70 x f32>
  %factor = tensor.cast %one : tensor<19 x 70 x bf16>
  %left = tensor.mul %a, %factor : tensor<19 x 70 x bf16>
  %y = tensor.matmul %left, %b {out = f32} : tensor<19 x 37 x f32>
  return %y
}
END
scaled() { # FACTOR STATUS
  ends "$2" pto-run g.ptir --pipeline=native.yaml --plugin="$TEST_PLUGINS/liar-numbers.so" \
    --insert-before=canonicalize=test.liar-numbers-scales --set=liar-numbers-scales.with.factor="$1" \
    --compare=reference.yaml --in a=a.npy --in b=b.npy --in l=l.npy
}
scaled 1 0
says '^y: 703 elements, the same' out
scaled 2 1
says '^y: 703 elements, DIFFERS$' out

# A row that is widened and then added is added in f32: all that bf16 has, to the least number.
/usr/bin/python3 - <<'END'
import numpy as np
np.save("c.npy", np.concatenate([np.arange(3, 390, 3), np.arange(3, 390, 3) | 0x8000]).astype(np.uint16))
np.save("a.npy", np.zeros((3, 16), np.uint16))
np.save("b.npy", np.zeros((16, 258), np.uint16))
END
cat >h.ptir <<'END'
func @h(%a: tensor<3 x 16 x bf16>, %b: tensor<16 x 258 x bf16>, %c: tensor<258 x bf16>) -> tensor<3 x 258 x bf16> {
  %x = tensor.matmul %a, %b {out = f32} : tensor<3 x 258 x f32>
  %wide = tensor.cast %c : tensor<258 x f32>
  %y = tensor.add %x, %wide : tensor<3 x 258 x f32>
  %z = tensor.cast %y : tensor<3 x 258 x bf16>
  return %z
}
END
for isa in host plain; do
  ends 0 pto-run h.ptir --pipeline=native.yaml --set=backend.with.isa=$isa --compare=reference.yaml \
    --in a=a.npy --in b=b.npy --in c=c.npy --out z=z.npy
  says '^z: .* elements, the same' out
  /usr/bin/python3 - <<'END' || fail 'numbers of the row are lost'
import numpy as np
assert (np.load("z.npy").view(np.uint16) == np.load("c.npy")).all()
END
done
