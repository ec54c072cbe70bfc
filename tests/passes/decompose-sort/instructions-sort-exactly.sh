# Rows sorted by instructions: bits of numpy's stable order, on both pipelines. NaN of both signs, infinities, both
# zeros, the largest and the smallest numbers, and many ties; extents around 32, primes, a power, one that takes chunks;
# the first of all, and all. Extents that are symbols take chunks. Then short rows, which are compared.
set -e
. "$TEST_ROOT/tests/shell.sh"
cat >check.py <<'END'
import subprocess
import sys

import numpy as np

rng = np.random.default_rng(7)
FEW = np.array([np.nan, np.inf, -np.inf, 0.0, -0.0, 1.0, -1.0, 3.4028235e38, -3.4028235e38, 1e-45, -1e-45, 1.1754944e-38, 65504.0], np.float32)


def row(n, kind):
    x = rng.standard_normal(n).astype(np.float32)
    if kind == "ties":
        x = rng.choice(FEW, n)
        x.view(np.uint32)[rng.random(n) < 0.05] = 0xFFC00001  # a NaN with a sign
    if kind == "few numbers":
        x = rng.choice(FEW[[0, 2, 8]], n)
    if kind == "one value":
        x = np.full(n, rng.choice(FEW), np.float32)
    return x


def order(x, down):
    """Stable, NaN above all numbers."""
    if not down:
        return np.argsort(x, axis=1, kind="stable")
    return np.flip(x.shape[1] - 1 - np.argsort(np.flip(x, 1), axis=1, kind="stable"), 1)


def same(name, got, want):
    is_nan = np.isnan(want) if want.dtype != np.int32 else np.zeros(want.shape, bool)
    bits = np.uint32 if want.itemsize == 4 else np.uint16
    equal = (got.view(bits) == want.view(bits)) | (is_nan & (got != got))
    if got.shape != want.shape or not equal.all():
        print(f"{name}: {np.argwhere(~equal)[:5].tolist()} differ")
        sys.exit(1)


def run(what, n, dtype, ks, symbolic, whole, pipeline):
    extent, kind = "$N" if symbolic else str(n), {np.float32: "f32", np.float16: "f16"}[dtype]
    with np.errstate(over="ignore"):
        x = np.stack([row(n, k) for k in ("normal", "ties", "few numbers", "one value")]).astype(dtype)
    np.save("x.npy", x)
    lines, outs, wants = [], [], {}
    for down in (False, True):
        places, word = order(x, down), "down" if down else "up"
        sorted_x = np.take_along_axis(x, places, 1)
        if whole:
            lines += [f"%s{word} = tensor.sort %x {{axis = 1, descending = {str(down).lower()}}} : tensor<4 x {extent} x {kind}>",
                      f"%a{word} = tensor.argsort %x {{axis = 1, descending = {str(down).lower()}}} : tensor<4 x {extent} x i32>"]
            outs += [(f"s{word}", f"4 x {extent} x {kind}"), (f"a{word}", f"4 x {extent} x i32")]
            wants |= {f"s{word}": sorted_x, f"a{word}": places.astype(np.int32)}
        for k in ks:
            lines.append(f"%v{word}{k}, %i{word}{k} = tensor.topk %x {{axis = 1, k = {k}, largest = {str(down).lower()}}} : tensor<4 x {k} x {kind}>, tensor<4 x {k} x i32>")
            outs += [(f"v{word}{k}", f"4 x {k} x {kind}"), (f"i{word}{k}", f"4 x {k} x i32")]
            wants |= {f"v{word}{k}": sorted_x[:, :k], f"i{word}{k}": places[:, :k].astype(np.int32)}
    with open("f.ptir", "w") as f:
        f.write(f"func @f(%x: tensor<4 x {extent} x {kind}>) -> ({', '.join(f'tensor<{t}>' for _, t in outs)}) {{\n  ")
        f.write("\n  ".join(lines) + f"\n  return {', '.join('%' + n for n, _ in outs)}\n}}\n")
    command = ["pto-run", "f.ptir", "--in=x=x.npy", f"--pipeline={pipeline}"] + [f"--out={o}={o}.npy" for o, _ in outs] + ([f"--sym=N={n}"] if symbolic else [])
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        print(what, done.stderr)
        sys.exit(1)
    for o, _ in outs:
        same(f"{what} {o}", np.load(f"{o}.npy"), np.ascontiguousarray(wants[o]))
    return len(outs)


count = 0
for pipeline in ("default.yaml", "reference.yaml"):
    for n in (1, 31, 32, 33, 64, 65, 97, 128, 129, 509, 2048):
        count += run(f"{n} of {pipeline}", n, np.float32, sorted({1, n // 2 + 1, n}), False, True, pipeline)
    count += run(f"4099 of {pipeline}", 4099, np.float32, (1, 40), False, False, pipeline)
    for n in (1, 31, 32, 33, 511, 513, 1031, 4099):
        count += run(f"$N = {n} of {pipeline}", n, np.float32, sorted({1, min(n, 40), min(n, 700)}), True, False, pipeline)
    count += run(f"f16 of {pipeline}", 131, np.float16, (1, 131), False, True, pipeline)
    count += run(f"f16 $N of {pipeline}", 131, np.float16, (1, 131), True, False, pipeline)
print(f"{count} results right")
END
ends 0 /usr/bin/python3 check.py
says '^[0-9]* results right$' out
