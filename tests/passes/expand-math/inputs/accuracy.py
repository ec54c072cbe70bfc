"""Runs expanded programs on the reference backend and compares with float64, or with the same program as it is written.

Prints one line per measurement, and fails when an error is above its bound. Bounds are those of the head comments of
plugins/passes/tensor/*.c: in units of the last place of the exact result, the least being the smallest subnormal."""
import os
import subprocess
import sys

import numpy as np

sys.path.insert(0, os.path.join(os.environ["TEST_ROOT"], "tests", "kernels"))
sys.dont_write_bytecode = True
import numpy_ops  # noqa: E402

LOWERING = "pto.decompose-softmax,pto.decompose-rms-norm,pto.legalize-types,pto.expand-math"
F = np.float32
SPECIAL = np.array([0.0, -0.0, np.inf, -np.inf, np.nan, 1e-45, -1e-45, 1.1754944e-38, -1.1754944e-38, 3.4028235e38,
                    -3.4028235e38, 0.625, -0.625, 88.72284, -88.72284, 104.0, -104.0, 1.0, -1.0], F)
SHARE = int(os.environ["TEST_SHARE"])  # with sanitizers few of the numbers that are like others
failures = []


def run(text, inputs, outputs, passes):
    """Results of a program; `passes` "" runs it as it is written."""
    with open("f.ptir", "w", encoding="utf-8") as f:
        f.write(text)
    command = ["pto-run", "f.ptir", "--backend=pto.reference"]
    command += ["--machine=ascend-910b", "--passes=" + passes] if passes else ["--pipeline=reference.yaml"]
    for name, array in inputs.items():
        np.save(name + ".npy", array)
        command += ["--in", f"{name}={name}.npy"]
    for name in outputs:
        command += ["--out", f"{name}=out_{name}.npy"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        sys.exit(f"{' '.join(command)}\n{text}{done.stdout}{done.stderr}")
    return [np.load(f"out_{name}.npy") for name in outputs]


def judge(what, error, bound):
    at = int(np.argmax(error / bound))
    worst = float(np.ravel(error / bound)[at])
    print(f"{what}: at most {np.max(error):.3g}, {worst:.2f} of the bound")
    if not worst <= 1.0:
        failures.append(what)
    return at


def demand(what, holds):
    if not np.all(holds):
        print(f"{what}: no")
        failures.append(what)


def ulps(y, exact):
    """Distance in units of the last place of the exact value in f32."""
    with np.errstate(over="ignore"):
        size = np.spacing(np.abs(exact).astype(F)).astype(np.float64)
    size = np.where(np.isfinite(size), size, 1.0)
    with np.errstate(invalid="ignore"):
        error = np.abs(y.astype(np.float64) - exact) / size
    same = (y == exact.astype(F)) | (np.isnan(y) & np.isnan(exact))
    return np.where(same, 0.0, np.where(np.isfinite(error), error, np.inf))


def same_bits(a, b):
    """Equal, zeros by sign, any NaN like any other."""
    number = np.issubdtype(a.dtype, np.floating)
    both = (np.isnan(a) & np.isnan(b)) if number else np.zeros(a.shape, bool)
    bits = np.dtype(f"u{a.dtype.itemsize}")
    return both | (np.ascontiguousarray(a).view(bits) == np.ascontiguousarray(b).view(bits))


def arguments():
    rng = np.random.default_rng(7)
    magnitudes = 10.0 ** rng.uniform(-45, 38.5, 60000) * rng.choice([-1, 1], 60000)
    many = [np.linspace(-12, 12, 200001), np.linspace(-110, 110, 100001), rng.normal(size=100000), magnitudes]
    parts = [SPECIAL, *(p[::SHARE] for p in many)]
    with np.errstate(over="ignore"):
        return np.concatenate([p.astype(F) for p in parts])


def sigmoid(z):
    return np.where(z >= 0, 1 / (1 + np.exp(-np.abs(z))), np.exp(-np.abs(z)) / (1 + np.exp(-np.abs(z))))


def check_functions():
    x = arguments()
    d = x.astype(np.float64)
    cubic = 2 * np.sqrt(2 / np.pi) * (d + 0.044715 * d**3)
    gated = {"silu": (d, 0), "gelu-sigmoid": (1.702 * d, 1.25), "gelu-tanh": (cubic, 3)}
    text = """func @f(%x: tensor<$N x f32>) -> (tensor<$N x f32>, tensor<$N x f32>, tensor<$N x f32>, tensor<$N x f32>, tensor<$N x f32>) {
  %a = tensor.sigmoid %x : tensor<$N x f32>
  %b = tensor.silu %x : tensor<$N x f32>
  %c = tensor.gelu %x {approx = "sigmoid"} : tensor<$N x f32>
  %d = tensor.gelu %x : tensor<$N x f32>
  %e = tensor.tanh %x : tensor<$N x f32>
  return %a, %b, %c, %d, %e
}
"""
    a, b, c, g, e = run(text, {"x": x}, "abcde", LOWERING)
    judge("sigmoid, ulp", ulps(a, sigmoid(d)), 3.0)
    judge("tanh, ulp", ulps(e, np.tanh(d)), 4.0)
    demand("signs of zeros of odd functions", np.signbit(e[x == 0]) == np.signbit(x[x == 0]))
    for y, (name, (z, slope)) in zip((b, c, g), gated.items()):
        exact = d * sigmoid(z)
        bound = 5.0 + slope * np.where((d < 0) & np.isfinite(z), np.abs(z), 0.0)
        judge(name + ", ulp", ulps(y, exact), bound)
        demand(f"sign of {name} of zeros", np.signbit(y[x == 0]) == np.signbit(x[x == 0]))


def check_rows():
    """Functions of the table, each within what its row says."""
    everywhere, rng = arguments(), np.random.default_rng(9)
    for op, (function, _) in numpy_ops.FLOATS.items():
        x, most = everywhere, numpy_ops.TURNS.get(op)
        if most is not None:
            quarters = np.pi / 2 * np.rint(rng.uniform(-most, most, 200000) / (np.pi / 2))  # where little is left
            x = np.concatenate([x, rng.uniform(-most, most, 200000).astype(F), quarters.astype(F), F([most, -most])])
        text = f"func @f(%x: tensor<$N x f32>) -> tensor<$N x f32> {{\n  %y = tensor.{op} %x : tensor<$N x f32>\n  return %y\n}}\n"
        (y,) = run(text, {"x": x}, "y", LOWERING)
        with np.errstate(all="ignore"):
            exact = function(x.astype(np.float64))
        near = np.abs(x) <= numpy_ops.TURNS.get(op, np.inf)
        demand(f"{op} beyond its turns", np.isnan(y[~near]))
        judge(f"{op}, ulp", ulps(y, exact)[near | np.isnan(x)], numpy_ops.row_ulp(op) + 0.5)
        demand(f"sign of {op} of zeros", np.isnan(y[x == 0]) | (np.signbit(y[x == 0]) == np.signbit(exact[x == 0])))
    a, b = [np.concatenate([m.ravel(), x[i::2000]]) for i, m in enumerate(np.meshgrid(SPECIAL, SPECIAL))]
    a, b = a[:min(a.size, b.size)], b[:min(a.size, b.size)]
    for op, (function, *_) in [*numpy_ops.REMAINDERS.items(), *numpy_ops.FLOAT_PAIRS.items()]:
        text = f"func @f(%a: tensor<$N x f32>, %b: tensor<$N x f32>) -> tensor<$N x f32> {{\n  %y = tensor.{op} %a, %b : tensor<$N x f32>\n  return %y\n}}\n"
        (y,) = run(text, {"a": a, "b": b}, "y", LOWERING)
        with np.errstate(all="ignore"):
            exact = function(a.astype(np.float64), np.where(np.isnan(b), np.nan, b).astype(np.float64))
        judge(f"{op}, ulp", ulps(y, exact), numpy_ops.row_ulp(op) + 0.5)
        demand(f"sign of {op}", np.isnan(y) | (np.signbit(y) == np.signbit(exact)))


def check_nan():
    a, b = [m.ravel() for m in np.meshgrid(SPECIAL, SPECIAL)]
    text = """func @f(%a: tensor<$N x f32>, %b: tensor<$N x f32>) -> (tensor<$N x f32>, tensor<$N x f32>, tensor<$N x f32>, tensor<$N x f32>) {
  %p = tensor.maximum %a, %b : tensor<$N x f32>
  %q = tensor.minimum %a, %b : tensor<$N x f32>
  %r = tensor.relu %a : tensor<$N x f32>
  %c = tensor.constant {value = -1.0} : tensor<f32>
  %s = tensor.maximum %c, %a : tensor<$N x f32>
  return %p, %q, %r, %s
}
"""
    names = "pqrs"
    for name, y, z in zip(names, run(text, {"a": a, "b": b}, names, LOWERING), run(text, {"a": a, "b": b}, names, "")):
        demand(f"maximum, minimum, relu: %{name}", same_bits(y, z))
    rng = np.random.default_rng(3)
    for dtype, word in ((F, "f32"), (np.float16, "f16")):
        with np.errstate(over="ignore"):
            rows = rng.choice(SPECIAL, (3000, 5)).astype(dtype)
        text = f"""func @f(%x: tensor<$M x $N x {word}>) -> (tensor<$M x 1 x {word}>, tensor<$N x {word}>) {{
  %a = tensor.reduce_max %x {{axis = 1}} : tensor<$M x 1 x {word}>
  %b = tensor.reduce_min %x {{axis = 0, keepdim = false}} : tensor<$N x {word}>
  return %a, %b
}}
"""
        for y, z in zip(run(text, {"x": rows}, "ab", LOWERING), run(text, {"x": rows}, "ab", "")):
            demand(f"reductions of {word}", same_bits(y, z))


def check_softmax():
    rng = np.random.default_rng(5)
    x = (rng.normal(size=(500, 37)) * 20).astype(F)
    x[rng.random(x.shape) < 0.005] = np.nan
    x[rng.random(x.shape) < 0.005] = -np.inf
    x[7] = -np.inf
    x[8, 3] = np.inf
    written = """  %m = tensor.reduce_max %x {axis = 1} : tensor<$M x 1 x f32>
  %d = tensor.sub %x, %m : tensor<$M x $N x f32>
  %e = tensor.exp %d : tensor<$M x $N x f32>
  %s = tensor.reduce_sum %e {axis = 1} : tensor<$M x 1 x f32>
  %y = tensor.div %e, %s : tensor<$M x $N x f32>
"""
    composite = "  %y = tensor.softmax %x {axis = 1} : tensor<$M x $N x f32>\n"
    d = x.astype(np.float64)
    with np.errstate(invalid="ignore"):
        e = np.exp(d - np.max(d, axis=1, keepdims=True))
        exact = e / np.sum(e, axis=1, keepdims=True)
    number = ~np.isnan(exact)
    for name, body in (("softmax", composite), ("softmax written out", written)):
        text = f"func @f(%x: tensor<$M x $N x f32>) -> tensor<$M x $N x f32> {{\n{body}  return %y\n}}\n"
        (y,) = run(text, {"x": x}, "y", LOWERING)
        demand(f"NaN of {name}", np.isnan(y) == np.isnan(exact))
        shift = np.where(exact > 0, np.max(d, axis=1, keepdims=True) - d, 0)
        judge(name + ", absolute", np.abs(y - exact)[number], (8 * 2.0**-24 * np.sqrt(37) + 0 * shift)[number])
        judge(name + ", relative", np.abs(y - exact)[number], ((shift + 6) * 2.0**-24 * exact + 1.5e-45)[number])


def check_means():
    rng = np.random.default_rng(9)
    for n in (1, 7, 64, 1000):
        x = rng.normal(size=(200, n)).astype(F)
        gamma = rng.normal(size=n).astype(F)
        d = x.astype(np.float64)
        mean = np.mean(d, axis=1, keepdims=True)
        rms = d / np.sqrt(np.mean(d * d, axis=1, keepdims=True) + 1e-6) * gamma
        for extent in ("$N", str(n)):
            text = f"""func @f(%x: tensor<$M x {extent} x f32>, %g: tensor<{extent} x f32>) -> (tensor<$M x 1 x f32>, tensor<$M x {extent} x f32>) {{
  %a = tensor.reduce_mean %x {{axis = -1}} : tensor<$M x 1 x f32>
  %b = tensor.rms_norm %x, %g : tensor<$M x {extent} x f32>
  return %a, %b
}}
"""
            for passes in (LOWERING, LOWERING.replace("rms-norm", "rms-norm{root=sqrt}")):
                a, b = run(text, {"x": x, "g": gamma}, "ab", passes)
                terms = np.mean(np.abs(d), axis=1, keepdims=True)
                judge(f"mean of {n}", np.abs(a - mean), 8 * 2.0**-24 * np.sqrt(n) * terms)
                judge(f"rms_norm of {n}", np.abs(b - rms), 8 * 2.0**-24 * np.sqrt(n) * np.abs(rms) + 1e-37)


def check_types():
    """Legalized programs compute the bits of those with the type as written."""
    rng = np.random.default_rng(11)
    bits = rng.integers(0, 1 << 16, 60000).astype(np.uint16)
    other = rng.permutation(bits)
    text = """func @f(%a: tensor<$N x bf16>, %b: tensor<$N x bf16>, %i: tensor<$N x i8>, %j: tensor<$N x i8>, %k: tensor<$N x i32>, %l: tensor<$N x i64>) -> (
    tensor<$N x bf16>, tensor<$N x bf16>, tensor<$N x bf16>, tensor<$N x bf16>, tensor<$N x i8>, tensor<$N x i32>, tensor<$N x i16>, tensor<$N x i16>, tensor<$N x f32>) {
  %p = tensor.add %a, %b : tensor<$N x bf16>
  %q = tensor.mul %a, %b : tensor<$N x bf16>
  %r = tensor.div %a, %b : tensor<$N x bf16>
  %s = tensor.minimum %a, %b {nan = "ignore"} : tensor<$N x bf16>
  %t = tensor.maximum %i, %j : tensor<$N x i8>
  %u = tensor.abs %k : tensor<$N x i32>
  %v = tensor.cast %l : tensor<$N x i16>
  %w = tensor.cast %l {saturate = true} : tensor<$N x i16>
  %x = tensor.cast %i : tensor<$N x f32>
  return %p, %q, %r, %s, %t, %u, %v, %w, %x
}
"""
    n = len(bits)
    inputs = {"a": bits, "b": other, "i": bits.astype(np.int8), "j": other.astype(np.int8),
              "k": rng.integers(-2**31, 2**31, n).astype(np.int32), "l": rng.integers(-2**40, 2**40, n)}
    inputs["k"][0] = -2**31
    inputs["l"][: n // 2] >>= 24
    names = "pqrstuvwx"
    for name, y, z in zip(names, run(text, inputs, names, LOWERING), run(text, inputs, names, "")):
        demand(f"types: %{name}", same_bits(y, z))


with np.errstate(all="ignore"):
    check_functions()
    check_rows()
    check_nan()
    check_softmax()
    check_means()
    check_types()
if failures:
    sys.exit("above the bound: " + ", ".join(failures))
