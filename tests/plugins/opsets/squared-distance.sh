# The op of the SDK's template, acme.squared_distance, from a text to the simulator: the reference evaluates it, the
# plugin's pass makes ops of it that the default pipeline lowers, and both are what numpy computes in f64, within what
# its row says: (n + 2) 2^-24, relatively, for n terms. Random shapes, axes and ops around it; what is printed reads
# back.
. "$TEST_ROOT/tests/shell.sh"
cat >draw.py <<'EOF'
import sys
import numpy as np

seed = int(sys.argv[1])
random = np.random.default_rng(seed)
rank = int(random.integers(1, 4))
dims = [int(d) for d in random.choice([1, 2, 3, 5, 8, 16, 33, 96], rank)]
axis = int(random.integers(-rank, rank))
a = random.standard_normal(dims).astype(np.float32)
b = random.standard_normal(dims).astype(np.float32)
out = [1 if d == axis % rank else n for d, n in enumerate(dims)]
text = lambda shape: "tensor<" + " x ".join(map(str, shape)) + " x f32>"
spelled = "" if axis == -1 and random.integers(2) else f" {{axis = {axis}}}"
# First something whose roundings are none, then the op, then perhaps something that depends on it.
before = random.integers(2)
after = random.integers(2)
wide = a.astype(np.float64) * (-1 if before else 1)
want = ((wide - b.astype(np.float64)) ** 2).sum(axis % rank, keepdims=True)
lines = [f"func @f(%a: {text(dims)}, %b: {text(dims)}) -> {text(out)} {{"]
if before:
    lines.append(f"  %n = tensor.neg %a : {text(dims)}")
lines.append(f"  %d = acme.squared_distance {'%n' if before else '%a'}, %b{spelled} : {text(out)}")
if after:
    lines.append(f"  %m = tensor.maximum %d, %d : {text(out)}")
lines += [f"  return {'%m' if after else '%d'}", "}"]
open("m.ptir", "w").write("\n".join(lines) + "\n")
np.save("a.npy", a)
np.save("b.npy", b)
np.save("want.npy", want)
EOF
cat >compare.py <<'EOF'
import sys
import numpy as np

got, want = np.load(sys.argv[1]).astype(np.float64), np.load("want.npy")
terms = np.load("a.npy").size // max(want.size, 1)
error = np.abs(got - want) / np.maximum(want, 1e-30)
limit = (terms + 2) * 2.0**-24
assert got.shape == want.shape and error.max(initial=0) <= limit, (sys.argv[1], error.max(), limit)
EOF
plugin=--plugin=$TEST_PLUGINS/acme-opset.so
decompose=--insert-before=canonicalize=acme.decompose-squared-distance
seeds='1 2 3 4 5 6'
[ "$TEST_SHARE" -eq 1 ] || seeds='1 2'
for seed in $seeds; do
  /usr/bin/python3 draw.py $seed || fail "seed $seed"
  pto-opt m.ptir "$plugin" -o same.ptir && cmp m.ptir same.ptir || fail "seed $seed is printed otherwise"
  pto-opt m.ptir "$plugin" --print-generic -o generic.ptir && pto-opt generic.ptir "$plugin" | cmp - m.ptir || fail "seed $seed: generic form"
  output=$(sed -n 's/^ *return %//p' m.ptir)
  ends 0 pto-run m.ptir "$plugin" --backend=pto.reference --in a=a.npy --in b=b.npy --out "$output=reference.npy"
  ends 0 pto-run m.ptir "$plugin" --pipeline=default.yaml "$decompose" --in a=a.npy --in b=b.npy --out "$output=simulated.npy"
  /usr/bin/python3 compare.py reference.npy && /usr/bin/python3 compare.py simulated.npy || fail "seed $seed"
done

# What a step makes of it is compared with what it evaluates to; how far it may be off no number of units says, so that
# elements that change are not decided.
cat >m.ptir <<'EOF'
func @f(%a: tensor<$B x 96 x f32>, %b: tensor<$B x 96 x f32>) -> tensor<$B x 1 x f32> {
  %d = acme.squared_distance %a, %b : tensor<$B x 1 x f32>
  return %d
}
EOF
ends 0 pto-run m.ptir "$plugin" --pipeline=default.yaml "$decompose" --check=semantics --sym B=3 --random-inputs 5
says '^semantics: undecided: [1-9][0-9]* elements changed where any number is allowed, first after `[a-z-]*`'

# Left as it is, a step that lowers ops refuses it and says what is to be done.
refuses 5 'm.ptir:2:8: error: [pto.tile/unsupported-op] `acme.squared_distance` has no tile form; a pass of the plugin that it comes from must make tensor ops of it in a step before [@f/d]' \
  pto-opt m.ptir "$plugin" --pipeline=default.yaml

# Found in a folder without being named; without it, the diagnostic says where was searched, and what is near.
mkdir plugins && cp "$TEST_PLUGINS/acme-opset.so" plugins && export XDG_DATA_HOME="$PWD/none"
PTO_PLUGIN_PATH=$PWD/plugins pto-opt m.ptir >out 2>text || fail
refuses 4 "m.ptir:2:8: error: [E0109] unknown op \`acme.squared_distance\`; no plugin that can be used provides it; searched: $TEST_BUILD/lib/pto/plugins-1" pto-opt m.ptir
sed 's/squared_distance/square_distance/' m.ptir >near.ptir
refuses 4 'near.ptir:2:8: error: [E0109] unknown op `acme.square_distance`; did you mean `acme.squared_distance`?' pto-opt near.ptir "$plugin"
# Two files that provide it are one too many.
cp "$TEST_PLUGINS/acme-opset.so" plugins/again.so
fails 4 "error: \[E1306\] op \`acme.squared_distance\` is provided by two files: " env PTO_PLUGIN_PATH="$PWD/plugins" pto-opt m.ptir
