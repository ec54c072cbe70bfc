# Sort, argsort and topk as C: bits of numpy's stable order for all element types. Ties, NaN of both signs, infinities,
# both zeros, one value, rows that ascend and descend; extents around the lengths of vectors, blocks and lists, primes;
# one element, a few, many, all; no row, one, a prime. Vectors of 64, 32 and 16 bytes. Then rows of 100000.
set -e
. "$TEST_ROOT/tests/shell.sh"
cat >check.py <<'END'
import subprocess
import sys

import numpy as np

rng = np.random.default_rng(7)
FEW = np.array([np.nan, np.inf, -np.inf, 0.0, -0.0, 1.0, -1.0, 65504.0, -65504.0, 6e-8, -6e-8])
KINDS = 6


def row(t, n, kind):
    if kind == 0:
        return rng.integers(0, 256, n * t.itemsize, dtype=np.uint8).view(t)
    if kind == 1:
        return rng.choice(FEW, n).astype(t) if t.kind == "f" else rng.choice(np.array([np.iinfo(t).min, 0, 1, np.iinfo(t).max], t), n)
    if kind == 2:
        return rng.integers(0, 3, n).astype(t)
    if kind == 3:
        return np.full(n, 1, t)
    return np.sort(rng.standard_normal(n).astype(t) if t.kind == "f" else rng.integers(0, 100, n).astype(t))[:: 1 if kind == 4 else -1]


def order(x, down):
    """Stable, NaN above all numbers."""
    if not down:
        return np.argsort(x, axis=1, kind="stable")
    return np.flip(x.shape[1] - 1 - np.argsort(np.flip(x, 1), axis=1, kind="stable"), 1)


def same(name, got, want):
    bits = f"u{want.itemsize}"
    equal = got.shape == want.shape and ((got.view(bits) == want.view(bits)) | ((got != got) & (want != want)))
    if got.dtype != want.dtype or not np.all(equal):
        print(f"{name}: differs, {got.ravel()[:9]} for {want.ravel()[:9]}")
        sys.exit(1)


def run(name, t, extents, rows, isa):
    word = {"f": "f", "i": "i", "u": "u"}[t.kind] + str(8 * t.itemsize)
    lines, ins, outs, wants, data = [], [], [], {}, []
    for n in extents:
        x = np.stack([row(t, n, i % KINDS) for i in range(rows)]) if rows else np.empty((0, n), t)
        np.save(f"x{n}.npy", x)
        ins.append(f"%x{n}: tensor<$R x {n} x {word}>")
        data.append(f"--in=x{n}=x{n}.npy")
        for down in (False, True):
            places, flag = order(x, down), str(down).lower()
            sorted_x, d = np.take_along_axis(x, places, 1), "d" if down else "u"
            lines += [f"%s{d}{n} = tensor.sort %x{n} {{axis = 1, descending = {flag}}} : tensor<$R x {n} x {word}>",
                      f"%a{d}{n} = tensor.argsort %x{n} {{axis = 1, descending = {flag}}} : tensor<$R x {n} x i32>"]
            outs += [(f"s{d}{n}", n, word), (f"a{d}{n}", n, "i32")]
            wants |= {f"s{d}{n}": sorted_x, f"a{d}{n}": places.astype(np.int32)}
            for k in sorted({1, min(n, 8), min(n, 20), n // 4 + 1, n}):
                v, i = f"v{d}{n}_{k}", f"i{d}{n}_{k}"
                lines.append(f"%{v}, %{i} = tensor.topk %x{n} {{axis = 1, k = {k}, largest = {flag}}} : tensor<$R x {k} x {word}>, tensor<$R x {k} x i32>")
                outs += [(v, k, word), (i, k, "i32")]
                wants |= {v: sorted_x[:, :k], i: places[:, :k].astype(np.int32)}
    results = ", ".join(f"tensor<$R x {n} x {w}>" for _, n, w in outs)
    with open("f.ptir", "w") as f:
        f.write(f"func @f({', '.join(ins)}) -> ({results}) {{\n  " + "\n  ".join(lines) + f"\n  return {', '.join('%' + o[0] for o in outs)}\n}}\n")
    command = ["pto-run", "f.ptir", "--pipeline=native.yaml", f"--sym=R={rows}", *data] + [f"--out={o}=r.npz:{o}" for o, _, _ in outs]
    done = subprocess.run(command + ([f"--set=backend.with.isa={isa}"] if isa else []), capture_output=True, text=True)
    if done.returncode != 0:
        print(name, done.stderr)
        sys.exit(1)
    with np.load("r.npz") as got:
        for o, _, _ in outs:
            same(f"{name} {o}", got[o], np.ascontiguousarray(wants[o]))
    return len(outs)


count = 0
SHORT = (1, 2, 13, 63, 65, 130, 257)
for word in ("f4", "f2", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8"):
    count += run(word, np.dtype(word), SHORT if word == "f4" else (7, 131), 7, "")
for rows in (0, 1):
    count += run(f"{rows} rows", np.dtype("f4"), (5, 67), rows, "")
count += run("many rows", np.dtype("f4"), (256,), 211, "")
count += run("avx2", np.dtype("f4"), SHORT, 6, "avx2")
count += run("plain", np.dtype("f4"), SHORT, 6, "plain")
count += run("long", np.dtype("f4"), (100000,), 6, "")
print(f"{count} results right")
END
ends 0 /usr/bin/python3 check.py
says '^[0-9]* results right$' out
