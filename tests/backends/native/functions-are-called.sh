# Each function of functions.def is a call in the C, and has the numbers of the reference within the units in the last
# place that its row states: on numbers of every exponent, edges, tails and a single number, and of f16 and bf16 too.
. "$TEST_ROOT/tests/shell.sh"
cat >make.py <<'END'
import re, sys
import numpy as np
root = sys.argv[1]
text = open(root + "/ir/ops/functions.def").read()
one = re.findall(r"^FUNCTION(?:_AS)?\((\w+), ", text, re.M)
two = re.findall(r"^FUNCTION2\((\w+), \w+\)$", text, re.M)
assert len(one) >= 20 and len(two) >= 3
words = one + two
open("words", "w").write("\n".join(words) + "\n")
for t in ("f32", "f16", "bf16"):
    of = f"tensor<$N x {t}>"
    lines = [f"func @f(%x: {of}, %b: {of}) -> ({', '.join([of] * len(words))}) {{"]
    for word in one:
        op, _, form = word.partition("_")
        attr = f' {{approx = "{form}"}}' if form else ""
        lines.append(f"  %{word} = tensor.{op} %x{attr} : {of}")
    lines += [f"  %{word} = tensor.{word} %x, %b : {of}" for word in two]
    lines += [f"  return {', '.join('%' + w for w in words)}", "}", ""]
    open(f"{t}.ptir", "w").write("\n".join(lines))
r = np.random.default_rng(11)
field = np.repeat(np.arange(256, dtype=np.uint32) << 23, 16)
bits = np.concatenate([field, field | 1 << 31]) | r.integers(0, 1 << 23, 2 * len(field)).astype(np.uint32)
edges = np.array([0, -0.0, np.inf, -np.inf, np.nan, 1, -1, 0.5, -0.5, 1e-45, -1e-45, 3.4028235e38, -3.4028235e38, 88.8, -80, -80.00001, -174, 65536, 65537, 2e6], np.float32)
x = np.concatenate([edges, bits.view(np.float32), r.uniform(-12, 12, 6001).astype(np.float32)])
b = x[::-1].copy()
np.savez("whole.npz", x=x, b=b)
np.savez("prime.npz", x=x[:997], b=b[:997])
np.savez("single.npz", x=x[7:8], b=b[7:8])
np.savez("none.npz", x=x[:0], b=b[:0])
small = np.concatenate([edges[:9], r.uniform(-9, 9, 2000).astype(np.float32)])
np.savez("f16.npz", x=small.astype(np.float16), b=small[::-1].astype(np.float16))
as_bf16 = lambda v: ((v.view(np.uint32) + 0x8000) >> 16).astype(np.uint16)
np.savez("bf16.npz", x=as_bf16(small), b=as_bf16(small[::-1].copy()))
END
/usr/bin/python3 make.py "$TEST_ROOT" || exit 1
ends 0 pto-opt f32.ptir --pipeline=native.yaml -o f.c
while read -r word; do grep -q "= pto_${word}_f32(" f.c || fail "$word is not called"; done <words

outputs() { while read -r word; do printf -- '--out %s=%s:%s ' "$word" "$1" "$word"; done <words; }
for inputs in whole prime single none; do
  # shellcheck disable=SC2046
  ends 0 pto-run f32.ptir --pipeline=native.yaml --in x=$inputs.npz:x --in b=$inputs.npz:b $(outputs native-$inputs.npz)
done
for t in f32 f16 bf16; do
  inputs=$t
  [ $t != f32 ] || inputs=whole
  # shellcheck disable=SC2046
  ends 0 pto-run $t.ptir --pipeline=native.yaml --in x=$inputs.npz:x --in b=$inputs.npz:b $(outputs native-$t.npz)
  # shellcheck disable=SC2046
  ends 0 pto-run $t.ptir --passes= --backend=pto.reference --in x=$inputs.npz:x --in b=$inputs.npz:b $(outputs reference-$t.npz)
done

cat >judge.py <<'END'
import re, sys
import numpy as np
np.seterr(all="ignore")
rows = open(sys.argv[1] + "/ir/ops/tensor.def").read()
words = open("words").read().split()

def stated(word):
    row = re.search(r'^(UNARY|BINARY)\(\w+, "%s".*?(?=^[A-Z/#])' % word.partition("_")[0], rows, re.M | re.S).group(0)
    return int(re.search(r"WITHIN(?:_TURNS)?\((\d+)\)|\.ulp = (\d+)", row).group(0).strip(")").replace("=", "(").rpartition("(")[2])

def wide(t, v):
    return (v.astype(np.uint32) << 16).view(np.float32).astype(np.float64) if t == "bf16" else v.astype(np.float64)

def judge(t, x, b):
    got, wanted = np.load(f"native-{t}.npz"), np.load(f"reference-{t}.npz")
    digits, least = {"f32": (24, -125), "f16": (11, -13), "bf16": (8, -125)}[t]
    for word in words:
        y, want = wide(t, got[word]), wide(t, wanted[word])
        most = stated(word) + np.zeros(len(x))
        z = {"gelu_tanh": 3 * x * (1.5957691 + 0.0713548 * x * x), "gelu_sigmoid": 1.25 * 1.702 * x}.get(word)
        if z is not None and t == "f32":
            most += np.where(x < 0, np.abs(z), 0)
        if word == "swiglu":  # as its row says
            most[~((x > -174) & np.isfinite(b))] = np.inf
        if t != "f32":
            most = np.minimum(most, 1)
        unit = np.ldexp(1.0, np.maximum(np.frexp(want)[1], least) - digits)
        same = (np.isnan(y) & np.isnan(want)) | (y == want) | ~np.isfinite(most)
        near = np.isfinite(y) & np.isfinite(want) & (np.abs(y - want) <= (most + 0.5) * unit)
        if not (same | near).all():
            i = int(np.argmin(same | near))
            sys.exit(f"{t} {word}({x[i]}, {b[i]}) is {y[i]}, the reference has {want[i]}")
        if (np.signbit(y) != np.signbit(want))[(want == 0) & (y == 0) & np.isfinite(most)].any():
            sys.exit(f"{t} {word}: the sign of a zero")

for t, name in (("f32", "whole"), ("f16", "f16"), ("bf16", "bf16")):
    data = np.load(name + ".npz")
    judge(t, wide(t, data["x"]), wide(t, data["b"]))
whole, prime, single, none = (np.load(f"native-{n}.npz") for n in ("whole", "prime", "single", "none"))
for word in words:
    bits = lambda a: np.where(np.isnan(a), np.uint32(0x7fc00000), a.view(np.uint32))
    assert none[word].shape == (0,), word
    assert (bits(prime[word]) == bits(whole[word])[:997]).all(), word
    assert bits(single[word])[0] == bits(whole[word])[7], word
END
/usr/bin/python3 judge.py "$TEST_ROOT" || exit 1
