# Gated activations stay within the units in the last place that their rows state, on numbers of every exponent and on
# those where errors are the largest; their special values are exact: as functions that are called, and as the steps
# that they are on machines without such.
. "$TEST_ROOT/tests/shell.sh"
cat >f.ptir <<'END'
func @f(%x: tensor<$N x f32>, %b: tensor<$N x f32>) -> (tensor<$N x f32>, tensor<$N x f32>, tensor<$N x f32>, tensor<$N x f32>, tensor<$N x f32>) {
  %tanh = tensor.gelu %x : tensor<$N x f32>
  %sigmoid = tensor.gelu %x {approx = "sigmoid"} : tensor<$N x f32>
  %silu = tensor.silu %x : tensor<$N x f32>
  %swiglu = tensor.swiglu %x, %b : tensor<$N x f32>
  %gate = tensor.sigmoid %x : tensor<$N x f32>
  return %tanh, %sigmoid, %silu, %swiglu, %gate
}
END
cat >steps.yaml <<'END'
pto-pipeline: 1
name: steps
extends: native.yaml
edit:
  - { set: expand-math.with.functions, to: steps }
END
ends 0 pto-opt f.ptir --pipeline=steps.yaml -o steps.c
# Those of x are shared by three gates; what sigmoid takes without a root stays beside them.
[ "$(grep -c "pto_exp_below_f32(" steps.c)" -eq 4 ] || fail "other numbers of exponentials"
ends 0 pto-opt f.ptir --pipeline=native.yaml -o f.c
for function in gelu_tanh gelu_sigmoid silu swiglu sigmoid; do
  grep -q "pto_${function}_f32(" f.c || fail "$function is not called"
  ! grep -q "pto_${function}_f32(" steps.c || fail "$function is called"
done
/usr/bin/python3 - <<'END' || exit 1
import numpy as np
r = np.random.default_rng(7)
field = np.concatenate([np.repeat(np.arange(256), 64), np.repeat(np.arange(119, 135), 16384)]).astype(np.uint32) << 23
bits = np.concatenate([field, field | 1 << 31]) | r.integers(0, 1 << 23, 2 * len(field)).astype(np.uint32)
# Found by all numbers from 2^-8 to 2^8: the largest errors of both ways, now and once. With the b of swiglu.
worst = """-0x1.3349dcp+3 -0x1.4150cp+3 -0x1.1cececp+3 -0x1.2fce92p+5 -0x1.a9f09ep+5 -0x1.332024p+5 -0x1.015ab2p+1 -0x1.b0cdaap+2
  -0x1.b270eap+2 -0x1.363ab6p+2 -0x1.b7d252p+1 -0x1.495294p+0 -0x1.e1c38p+2*0x1.edd1d4p+0 -0x1.dfbd64p+2*0x1.e07bf2p+0
  -0x1.e165cap+3*0x1.b1f94ap+0""".split()
worst = np.array([[float.fromhex(v) for v in (w + "*1").split("*")[:2]] for w in worst], np.float32).T
x = np.concatenate([bits.view(np.float32), r.uniform(-110, 110, 40000).astype(np.float32)])
b = np.where(np.arange(len(x)) % 2 == 0, 1, 1 + r.random(len(x))).astype(np.float32)
special = np.array([0, -0.0, np.inf, -np.inf, np.nan], np.float32)
np.savez("x.npz", x=np.concatenate([x, worst[0], special]), b=np.concatenate([b, worst[1], np.ones(5, np.float32)]))
END
for pipeline in native.yaml steps.yaml; do
ends 0 pto-run f.ptir --pipeline=$pipeline --in x=x.npz:x --in b=x.npz:b --out tanh=y.npz:tanh --out sigmoid=y.npz:sigmoid \
  --out silu=y.npz:silu --out swiglu=y.npz:swiglu --out gate=y.npz:gate
/usr/bin/python3 - <<'END' || exit 1
import sys
import numpy as np
np.seterr(all="ignore")
data, got = np.load("x.npz"), np.load("y.npz")
x = data["x"].astype(np.longdouble)
z = {"tanh": x * (np.longdouble(1.5957691216057308) + np.longdouble(0.07135481627260025) * x * x),
     "sigmoid": x * np.longdouble(1.702)}
one = np.longdouble(1)
bounds = {"tanh": (x / (1 + np.exp(-z["tanh"])), 5 + np.where(x < 0, 3 * np.abs(z["tanh"]), 0)),
          "sigmoid": (x / (1 + np.exp(-z["sigmoid"])), 5 + np.where(x < 0, 1.25 * np.abs(z["sigmoid"]), 0)),
          "silu": (x / (1 + np.exp(-x)), 5), "gate": (one / (1 + np.exp(-x)), 3),
          "swiglu": (x / (1 + np.exp(-x)) * data["b"], np.where(x > -174, 8, np.inf))}
for name, (wanted, most) in bounds.items():
    y = got[name].astype(np.longdouble)
    unit = np.ldexp(one, np.maximum(np.frexp(wanted)[1], -125) - 24)
    seen = np.isfinite(x) & (np.abs(wanted) < 3.4e38)
    off = seen & ~(np.abs(y - wanted) <= most * unit)
    if off.any():
        sys.exit(f"{name}: {off.sum()} of {len(x)}, first at x = {x[off][0]}: {y[off][0]}, not {wanted[off][0]}")
    special = got[name][-5:]
    if name == "gate":
        right = (special[:4] == [0.5, 0.5, 1, 0]).all()
    else:
        right = special[0] == 0 and special[1] == 0 and np.signbit(special[1]) and special[2] == np.inf and np.isnan(special[3])
    if not right or not np.isnan(special[4]):
        sys.exit(f"{name}: special values {special}")
END
done
